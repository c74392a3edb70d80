import { Steps, CallToAction, Reasons } from './sections.tsx';
import { Hero } from './hero.tsx';
import { Plans } from './plan-teasers.tsx';
import { Testimonials } from './testimonials.tsx';

/** The landing page. */
export function Landing() {
  return (
    <>
      <Hero />
      <Reasons />
      <Steps />
      <Testimonials />
      <Plans />
      <CallToAction />
    </>
  );
}
