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

/** In local time, 0 to 24. */
export type HelpHours = 'always' | { from: number; to: number };

export type HelpLine = {
  service: string;
  translated?: 'china' | 'japan' | 'korea' | 'taiwan' | 'thailand';
  area?: 'adults' | 'buenosAires' | 'mobilePhones' | 'mostOfJapan';
  call?: { shown: string; tel?: string; key?: string };
  /** `word` is what the line wants as the first message. */
  text?: { shown: string; number: string; word?: string };
  /** `international` has the calling code. */
  whatsApp?: {
    shown: string;
    international: string;
    hours?: HelpHours;
  };
  chat?: { address: string; hours?: HelpHours };
  hours?: HelpHours;
  isFree?: boolean;
  languages?: readonly [HelpLanguage, ...HelpLanguage[]];
  languagesAtTimes?: readonly HelpLanguage[];
  sources: readonly [string, ...string[]];
  /** ISO 8601, to the day, month or year. */
  readOn: string;
  confidence: 'high';
};

export type HelpCountry = { lines: readonly [HelpLine, ...HelpLine[]] };
