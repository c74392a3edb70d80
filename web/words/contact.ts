import { brand } from '#contract/brand';

const { name } = brand;

/** SPEC 2, 4 and 5; labels and titles are ours. */
export const contactWords = {
  title: 'Contact Us',
  lead: 'A question, an idea, a worry about your account: write to us, a person will answer.',
  name: 'Name',
  email: 'Email',
  phone: 'Phone (optional)',
  message: 'Message',
  send: 'Send Message',
  sending: 'Sending...',
  sent: 'Message Sent',
  sentText: "We've received your message and will get back to you soon.",
  failed: 'Your message could not be sent. Please write to us by e-mail.',
  nameRule: 'Name must be at least 2 characters.',
  emailRule: 'Please enter a valid email address.',
  messageRule: 'Message must be at least 10 characters.',
  detailsTitle: 'Support',
  hoursTitle: 'Hours',
  hours: 'Monday-Friday 9:00 AM-6:00 PM EST',
  crisisTitle: 'In a crisis?',
  crisis: `${name} is not a crisis service. If you or someone near you is in danger, call your local emergency number now.`,
  help: 'Get help now',
} as const;
