import { Steps } from './steps.tsx';
import { CallToAction } from './call-to-action.tsx';
import { Hero } from './hero.tsx';
import { Plans } from './plans.tsx';
import { Testimonials } from './testimonials.tsx';
import { Reasons } from './reasons.tsx';

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
