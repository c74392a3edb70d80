import { createFileRoute } from '@tanstack/react-router';
import { LegalDocument } from '../pages/legal/legal-document.tsx';
import { privacyPolicyWords } from '#words/privacy-policy';

export const Route = createFileRoute('/privacy')({
  staticData: { rendersWithoutSession: true },
  component: function PrivacyPage() {
    return <LegalDocument text={privacyPolicyWords} />;
  },
});
