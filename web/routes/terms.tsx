import { createFileRoute } from '@tanstack/react-router';
import { LegalDocument } from '../pages/legal/legal-document.tsx';
import { termsText } from '../pages/legal/terms-text.ts';

export const Route = createFileRoute('/terms')({
  staticData: { rendersWithoutSession: true },
  component: function TermsPage() {
    return <LegalDocument text={termsText} />;
  },
});
