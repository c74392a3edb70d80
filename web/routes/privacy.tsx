import { createFileRoute } from '@tanstack/react-router';
import { LegalDocument, withSection } from '../pages/legal/legal-document.tsx';
import { isWithdrawable } from '#words/language';
import { privacyPolicyWords } from '#words/privacy-policy';
import { withdrawalPrivacyWords } from '#words/withdrawal-texts';

/** After “How long we keep it”. */
const place = 8;
const text = withSection(privacyPolicyWords, place, isWithdrawable && withdrawalPrivacyWords);

export const Route = createFileRoute('/privacy')({
  staticData: { rendersWithoutSession: true },
  component: function PrivacyPage() {
    return <LegalDocument text={text} />;
  },
});
