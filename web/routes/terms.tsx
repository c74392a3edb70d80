import { createFileRoute } from '@tanstack/react-router';
import { LegalDocument, withSection } from '../pages/legal/legal-document.tsx';
import { isWithdrawable } from '#words/language';
import { termsWords } from '#words/terms';
import { withdrawalTermsWords } from '#words/withdrawal-texts';

/** After “Changing and cancelling”. */
const place = 7;
const text = withSection(termsWords, place, isWithdrawable && withdrawalTermsWords);

export const Route = createFileRoute('/terms')({
  staticData: { rendersWithoutSession: true },
  component: function TermsPage() {
    return <LegalDocument text={text} />;
  },
});
