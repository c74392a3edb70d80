import { Document } from './document.tsx';
import { termsText } from './terms-text.ts';

export function Terms() {
  return <Document text={termsText} />;
}
