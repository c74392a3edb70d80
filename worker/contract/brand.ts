export const brand = {
  name: 'Solace',
  companion: 'Solace',
  messagingApp: 'WhatsApp',
  company: 'Solace Wellness, Inc.',
  /** For letters, as the model form of withdrawal says. */
  companyAddress: '100 Example Street, Springfield, USA',
  businessPhone: '+1 (555) 010-0199',
  chatNumber: '15550100199',
  supportEmail: 'support@solace.example',
  copyrightYear: 2025,
  siteUrl: 'https://solace.example',
} as const;

export function chatLink(text?: string): string {
  const query = text ? `?text=${encodeURIComponent(text)}` : '';
  return `https://wa.me/${brand.chatNumber}${query}`;
}
