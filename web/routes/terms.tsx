import { createFileRoute } from '@tanstack/react-router';
import { LegalDocument } from '../pages/legal/legal-document.tsx';
import { termsWords } from '#words/terms';

export const Route = createFileRoute('/terms')({
  staticData: { rendersWithoutSession: true },
  component: function TermsPage() {
    return <LegalDocument text={termsWords} />;
  },
});
