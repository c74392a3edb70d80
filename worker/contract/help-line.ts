/** ISO 639 codes of the languages in which the line is offered. */
export type HelpLanguage =
  | 'am'
  | 'ar'
  | 'cs'
  | 'de'
  | 'el'
  | 'en'
  | 'es'
  | 'et'
  | 'fi'
  | 'fil'
  | 'fr'
  | 'he'
  | 'hu'
  | 'id'
  | 'is'
  | 'it'
  | 'ja'
  | 'ko'
  | 'lb'
  | 'ms'
  | 'nl'
  | 'no'
  | 'pl'
  | 'pt'
  | 'ru'
  | 'ta'
  | 'th'
  | 'uk'
  | 'vi'
  | 'zh';

/** Round the clock, or the same hours every day in local time, 0 to 24. */
export type HelpHours = 'always' | { from: number; to: number };

export type HelpLine = {
  service: string;
  /** A translation of a name that many readers of the site cannot read. */
  translated?: 'china' | 'japan' | 'korea' | 'taiwan' | 'thailand';
  area?: 'adults' | 'buenosAires' | 'mobilePhones' | 'mostOfJapan';
  /** `tel` as dialled in the country, if phones accept it; `key` is pressed after the answer. */
  call?: { shown: string; tel?: string; key?: string };
  /** `word` is what the line wants as the first message. */
  text?: { shown: string; number: string; word?: string };
  /** `international` has the calling code, as WhatsApp's links need it. */
  whatsApp?: {
    shown: string;
    international: string;
    hours?: HelpHours;
  };
  chat?: { address: string; hours?: HelpHours };
  /** Hours and cost of `call`; the other channels have their own. */
  hours?: HelpHours;
  isFree?: boolean;
  languages?: readonly [HelpLanguage, ...HelpLanguage[]];
  /** Languages that the line offers only at some hours. */
  languagesAtTimes?: readonly HelpLanguage[];
  sources: readonly [string, ...string[]];
  /** ISO 8601, to the day, month or year: when the provider's page was read. */
  readOn: string;
  confidence: 'high';
};

export type HelpCountry = { lines: readonly [HelpLine, ...HelpLine[]] };
