/** A paragraph that ends in a link to a page of the site. */
export type LinkedText = { text: string; to: '/help-now' | '/safety'; label: string };

/** A legal page: its introduction, then numbered sections of paragraphs and lists. */
export type LegalText = {
  title: string;
  intro: string;
  sections: readonly { title: string; blocks: readonly (string | readonly string[] | LinkedText)[] }[];
};

/** The effective date of both texts. */
export const lastUpdated = 'Last updated February 16, 2025';
