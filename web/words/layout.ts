import { brand } from '#contract/brand';

const { name } = brand;

/** SPEC 2, header and startup; the rest is ours. */
export const layoutWords = {
  home: 'Home',
  myAccount: 'My Account',
  login: 'Login',
  switchedAccount: (phone: string) =>
    `You are now signed in as ${phone}. The account that was signed in here before has been signed out.`,
  skip: 'Skip to content',
  mainNavigation: 'Main',
  footerNavigation: 'Footer',
  logo: `${name}, home`,
  loadingApplication: 'Loading application...',
  loadingPage: 'Loading...',
  needsScript: 'Please turn on JavaScript for this part of the site.',
  wrong: 'Something went wrong',
  refreshPage: 'Refresh Page',
  toLight: 'Switch to light colours',
  toDark: 'Switch to dark colours',
  dismiss: 'Dismiss',
  notifications: 'Notifications',
  newTab: '(opens in a new tab)',
} as const;

/** SPEC 2. */
export const notFoundWords = {
  title: 'Page Not Found',
  text: "The page you're looking for doesn't exist or has been moved.",
  home: 'Return to Home',
} as const;

/** SPEC 1 and 2; company notice, links and crisis line are ours. */
export const footerWords = {
  contact: 'Contact Us',
  notice: `${name} supports well-being and self-help. It does not replace medical or psychological care.`,
  crisis: 'Not a crisis service. In an emergency, call your local emergency number.',
  copyright: `© ${brand.copyrightYear} ${brand.company} All rights reserved.`,
  help: 'Get help now',
  plans: 'Plans',
  safety: 'Safety',
  terms: 'Terms and Conditions',
  privacy: 'Privacy Policy',
  phone: 'Business phone',
} as const;
