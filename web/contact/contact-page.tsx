import { words } from '../words.ts';

export function ContactPage() {
  return <h1>{words.contact.title}</h1>;
}
