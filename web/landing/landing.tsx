import { Beginning } from './beginning.tsx';
import { Closing } from './closing.tsx';
import { Hero } from './hero.tsx';
import { Plans } from './plans.tsx';
import { Voices } from './voices.tsx';
import { Why } from './why.tsx';

/** The page that welcomes. */
export function Landing() {
  return (
    <>
      <Hero />
      <Why />
      <Beginning />
      <Voices />
      <Plans />
      <Closing />
    </>
  );
}
