import { Document } from './document.tsx';
import { privacyText } from './privacy-text.ts';

export function Privacy() {
  return <Document text={privacyText} />;
}
