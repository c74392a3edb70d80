import { words } from '../words.ts';

export function Terms() {
  return <h1>{words.footer.terms}</h1>;
}
