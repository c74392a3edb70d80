import { Hero } from './hero.tsx';

/** The page that welcomes. */
export function Landing() {
  return <Hero />;
}
