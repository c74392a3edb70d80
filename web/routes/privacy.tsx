import { createFileRoute } from '@tanstack/react-router';
import { LegalDocument } from '../pages/legal/legal-document.tsx';
import { privacyText } from '../pages/legal/privacy-text.ts';

export const Route = createFileRoute('/privacy')({
  staticData: { rendersWithoutSession: true },
  component: function PrivacyPage() {
    return <LegalDocument text={privacyText} />;
  },
});
