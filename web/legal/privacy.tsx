import { words } from '../words.ts';

export function Privacy() {
  return <h1>{words.footer.privacy}</h1>;
}
