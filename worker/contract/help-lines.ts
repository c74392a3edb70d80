import type { HelpCountry } from './help-line.ts';

/**
 * Crisis lines by ISO country, in the order of the English names. A wrong
 * number is worse than none: add a line only with two independent sources, or
 * with the provider's or a government's own page, and write the date on which
 * that page was read. The dates 2026-09-03, 2026-09-16 and 2026-10-03 come from
 * public lists whose authors read each provider's page on that day. At most one
 * line a country, unless another one offers another language, way or area.
 */
export const helpLines: Record<string, HelpCountry> = {
  AR: {
    lines: [
      {
        service: 'Línea de salud mental',
        call: { shown: '0800 999 0091', tel: '08009990091' },
        hours: 'always',
        isFree: true,
        languages: ['es'],
        sources: ['lapostacomodorense.com.ar', 'mediosdelsur.com.ar/2022/10/20/'],
        readOn: '2025-09-03',
        confidence: 'high',
      },
      {
        service: 'Centro de Asistencia al Suicida',
        area: 'buenosAires',
        call: { shown: '135', tel: '135' },
        isFree: true,
        languages: ['es'],
        sources: ['lapostacomodorense.com.ar', 'MetaGer (help page)'],
        readOn: '2025-09-03',
        confidence: 'high',
      },
    ],
  },
  AU: {
    lines: [
      {
        service: 'Lifeline',
        call: { shown: '13 11 14', tel: '131114' },
        text: { shown: '0477 13 11 14', number: '0477131114' },
        chat: { address: 'lifeline.org.au' },
        hours: 'always',
        isFree: true,
        languages: ['en'],
        sources: [
          'lifeline.org.au/crisis-support/',
          'lifeinmind.org.au/news/lifelines-crisis-text-service-now-available-24-7',
        ],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  AT: {
    lines: [
      {
        service: 'TelefonSeelsorge',
        call: { shown: '142', tel: '142' },
        chat: { address: 'chat.onlineberatung-telefonseelsorge.at', hours: { from: 16, to: 23 } },
        hours: 'always',
        isFree: true,
        languages: ['de'],
        sources: [
          'dioezese-linz.at/institution/8170/aktuelles/article/297583.html',
          'burgenland.orf.at/stories/3207209/',
        ],
        readOn: '2025',
        confidence: 'high',
      },
    ],
  },
  BE: {
    lines: [
      {
        service: 'Zelfmoordlijn 1813',
        call: { shown: '1813', tel: '1813' },
        chat: { address: 'zelfmoord1813.be' },
        hours: 'always',
        isFree: true,
        languages: ['nl'],
        sources: ['zelfmoord1813.be'],
        readOn: '2026-09-03',
        confidence: 'high',
      },
      {
        service: 'Centre de Prévention du Suicide',
        call: { shown: '0800 32 123', tel: '080032123' },
        languages: ['fr'],
        sources: ['preventionsuicide.be'],
        readOn: '2026-09-16',
        confidence: 'high',
      },
    ],
  },
  BR: {
    lines: [
      {
        service: 'CVV',
        call: { shown: '188', tel: '188' },
        hours: 'always',
        isFree: true,
        languages: ['pt'],
        sources: ['cvv.org.br'],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  CA: {
    lines: [
      {
        service: '9-8-8: Suicide Crisis Helpline',
        call: { shown: '988', tel: '988' },
        text: { shown: '988', number: '988' },
        hours: 'always',
        isFree: true,
        languages: ['en', 'fr'],
        sources: ['988.ca', 'cmhasaskatoon.ca/9-8-8/'],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  CL: {
    lines: [
      {
        service: 'Línea de Prevención del Suicidio',
        area: 'mobilePhones',
        call: { shown: '*4141' },
        hours: 'always',
        isFree: true,
        languages: ['es'],
        sources: [
          'radiopolar.com',
          'latercera.com/nacional/noticia/fono-4141-de-prevencion-del-suicidio-mas-de-227000-llamadas-atendidas-en-tres-anos/',
        ],
        readOn: '2025-11-25',
        confidence: 'high',
      },
    ],
  },
  CN: {
    lines: [
      {
        service: '全国统一心理援助热线',
        translated: 'china',
        call: { shown: '12356', tel: '12356' },
        languages: ['zh'],
        sources: ['founderfx.cn/ebook/article/459433', 'c.m.163.com/news/a/JKBD9CKU0514CC6P.html'],
        readOn: '2026-05-06',
        confidence: 'high',
      },
    ],
  },
  CZ: {
    lines: [
      {
        service: 'Linka první psychické pomoci',
        call: { shown: '116 123', tel: '116123' },
        isFree: true,
        languages: ['cs'],
        sources: [
          'irozhlas.cz/zpravy-domov/bezplatna-linka-psychicke-pomoci-omezuje-provoz-prosinec-je-pritom_2412080600_job',
          'idnes.cz A240110_100533_praha-zpravy_vich',
        ],
        readOn: '2024-12-08',
        confidence: 'high',
      },
    ],
  },
  EE: {
    lines: [
      {
        service: 'Emotsionaalse toe ja hingehoiu telefon',
        call: { shown: '116 123', tel: '116123' },
        hours: { from: 10, to: 24 },
        isFree: true,
        languages: ['et', 'ru', 'en'],
        sources: [
          'sotsiaalkindlustusamet.ee/uudised/vaimse-tervise-tugiliini-teenust-pakub-nuud-emotsionaalse-toe-ja-hingehoiu-telefon-116-123',
          'kadrina.ee/vajad-abi-',
        ],
        readOn: '2023-01-16',
        confidence: 'high',
      },
    ],
  },
  FI: {
    lines: [
      {
        service: 'MIELI Kriisipuhelin',
        call: { shown: '09 2525 0111', tel: '0925250111' },
        hours: 'always',
        isFree: false,
        languages: ['fi'],
        sources: [
          'mieli.fi/helpline',
          'digest-daily.com/record-number-of-crisis-calls-answered-in-finland-over-summer.html',
        ],
        readOn: '2025',
        confidence: 'high',
      },
    ],
  },
  FR: {
    lines: [
      {
        service: '3114, numéro national de prévention du suicide',
        call: { shown: '3114', tel: '3114' },
        hours: 'always',
        isFree: true,
        languages: ['fr'],
        sources: [
          '3114.fr/confidentialite-et-gratuite/',
          'service-public.gouv.fr/particuliers/actualites/A15841',
        ],
        readOn: '2026-09-16',
        confidence: 'high',
      },
    ],
  },
  DE: {
    lines: [
      {
        service: 'TelefonSeelsorge',
        call: { shown: '0800 1110111', tel: '08001110111' },
        hours: 'always',
        isFree: true,
        languages: ['de'],
        sources: ['telefonseelsorge.de'],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  GR: {
    lines: [
      {
        service: 'Klimaka suicide help line',
        call: { shown: '1018', tel: '1018' },
        hours: 'always',
        languages: ['el'],
        sources: [
          'reader.gr/ygeia (618464)',
          'tanea.gr/2018/07/12/greece/opoy-den-yparxei-elpida-yparxei-boitheia/',
        ],
        readOn: '2025-10-10',
        confidence: 'high',
      },
    ],
  },
  HK: {
    lines: [
      {
        service: 'Mental Health Support Hotline',
        call: { shown: '18111', tel: '18111' },
        hours: 'always',
        languages: ['zh', 'en'],
        sources: [
          'news.gov.hk/eng/2023/12/20231227/20231227_162155_701.html',
          'chinadailyasia.com/article/581738',
        ],
        readOn: '2024-04',
        confidence: 'high',
      },
    ],
  },
  HU: {
    lines: [
      {
        service: 'Lelki Elsősegély Telefonszolgálat',
        call: { shown: '116-123', tel: '116123' },
        hours: 'always',
        isFree: true,
        languages: ['hu'],
        sources: ['infostart.hu', 'gondola.hu/hirek/248389'],
        readOn: '2022',
        confidence: 'high',
      },
    ],
  },
  IS: {
    lines: [
      {
        service: 'Hjálparsími Rauða krossins',
        call: { shown: '1717', tel: '1717' },
        chat: { address: '1717.is' },
        hours: 'always',
        isFree: true,
        languages: ['is'],
        sources: [
          'raudikrossinn.is/verkefni/innanlandsverkefni/heilbrigdi-og-velferd/hjalparsiminn-1717-og-netspjallid/',
          'visir.is/g/20252729965d',
        ],
        readOn: '2025-05-22',
        confidence: 'high',
      },
    ],
  },
  IN: {
    lines: [
      {
        service: 'Tele-MANAS',
        call: { shown: '14416', tel: '14416' },
        hours: 'always',
        isFree: true,
        sources: [
          'lokmattimes.com',
          'theshillongtimes.com/2025/02/07/tele-manas-mental-health-helpline-handles-over-18-1-lakh-calls-centre/',
        ],
        readOn: '2025-12-13',
        confidence: 'high',
      },
    ],
  },
  IE: {
    lines: [
      {
        service: 'Samaritans',
        call: { shown: '116 123', tel: '116123' },
        hours: 'always',
        isFree: true,
        languages: ['en'],
        sources: ['samaritans.org/ireland/how-we-can-help/contact-samaritan/'],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  IL: {
    lines: [
      {
        service: 'ERAN',
        call: { shown: '1201', tel: '1201' },
        hours: 'always',
        isFree: true,
        languages: ['he', 'ar', 'en', 'ru', 'am', 'fr', 'es'],
        sources: [
          'jpost.com article-862831',
          'israel21c.org/mental-health-hotline-helps-israelis-cope-with-reform-crisis/',
        ],
        readOn: '2025',
        confidence: 'high',
      },
    ],
  },
  IT: {
    lines: [
      {
        service: 'Telefono Amico Italia',
        call: { shown: '02 2327 2327', tel: '0223272327' },
        whatsApp: {
          shown: '324 011 7252',
          international: '393240117252',
          hours: { from: 18, to: 21 },
        },
        hours: 'always',
        languages: ['it'],
        sources: [
          'telefonoamico.it',
          'giornaledibrescia.it/cronaca/telefono-amico-numero-aiuto-aprile-notte-nv32wmcr',
        ],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  JP: {
    lines: [
      {
        service: 'よりそいホットライン',
        translated: 'japan',
        area: 'mostOfJapan',
        call: { shown: '0120-279-338', tel: '0120279338' },
        hours: 'always',
        isFree: true,
        languages: ['ja'],
        languagesAtTimes: ['en', 'zh', 'ko', 'es', 'pt', 'th', 'vi', 'id'],
        sources: ['279338.jp/yorisoi/', 'meikikai-home.com'],
        readOn: '2021-03-01',
        confidence: 'high',
      },
    ],
  },
  LU: {
    lines: [
      {
        service: 'SOS Détresse',
        area: 'adults',
        call: { shown: '45 45 45', tel: '454545' },
        languages: ['lb', 'de', 'fr', 'en'],
        sources: [
          'luxtoday.lu/fr/interview/travail/50-years-of-assistance-an-interview-waaith-sos-dtresse',
          'journal.lu/fr/lautre-bout-du-fil',
        ],
        readOn: '2025-10-24',
        confidence: 'high',
      },
    ],
  },
  MY: {
    lines: [
      {
        service: 'Talian HEAL',
        call: { shown: '15555', tel: '15555' },
        hours: { from: 8, to: 24 },
        languages: ['ms'],
        sources: [
          'vietnamnews.vn/world/1763284/malaysia-sees-record-surge-in-mental-health-calls.html',
          'thestar.com.my/news/nation/2023/09/10/almost-25000-calls-made-to-039heal-line-15555039-mental-health-helpline-this-year',
        ],
        readOn: '2026-01-07',
        confidence: 'high',
      },
    ],
  },
  MX: {
    lines: [
      {
        service: 'Línea de la Vida',
        call: { shown: '800 911 2000', tel: '8009112000' },
        hours: 'always',
        isFree: true,
        languages: ['es'],
        sources: [
          'tribunademexico.com/ssa-invita-a-hacer-uso-de-linea-de-la-vida/',
          'proceso.com.mx/ciencia-tecnologia/salud/2025/10/11/',
        ],
        readOn: '2026-01-13',
        confidence: 'high',
      },
    ],
  },
  NL: {
    lines: [
      {
        service: '113 Zelfmoordpreventie',
        call: { shown: '113', tel: '113' },
        hours: 'always',
        isFree: true,
        languages: ['nl'],
        sources: ['113.nl/ik-denk-aan-zelfmoord'],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  NZ: {
    lines: [
      {
        service: '1737, Need to talk?',
        call: { shown: '1737', tel: '1737' },
        text: { shown: '1737', number: '1737' },
        hours: 'always',
        isFree: true,
        languages: ['en'],
        sources: ['1737.org.nz', 'nzfamilies.org.nz/?p=1578'],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  NO: {
    lines: [
      {
        service: 'Mental Helse, Hjelpetelefonen',
        call: { shown: '116 123', tel: '116123' },
        chat: { address: 'sidetmedord.no' },
        hours: 'always',
        isFree: true,
        languages: ['no'],
        sources: [
          'vindafjord.kommune.no',
          'nrk.no/osloogviken/over-100-barn-under-ni-ar-har-tatt-kontakt-_-hjelpetelefoner-slar-alarm-1.15736352',
        ],
        readOn: '2023',
        confidence: 'high',
      },
    ],
  },
  PE: {
    lines: [
      {
        service: 'Línea 113, opción 5',
        call: { shown: '113', tel: '113', key: '5' },
        hours: 'always',
        isFree: true,
        languages: ['es'],
        sources: [
          'panamericana.pe/salud/466160-minsa-refuerza-lineas-gratuitas-atencion-salud-mental-nivel-nacional',
          'infobae.com/peru/2025/08/16/',
        ],
        readOn: '2026-03-02',
        confidence: 'high',
      },
    ],
  },
  PH: {
    lines: [
      {
        service: 'NCMH Crisis Hotline',
        call: { shown: '1553', tel: '1553' },
        hours: 'always',
        languages: ['en', 'fil'],
        sources: ['sunstar.com.ph', 'manilastandard.net/news/national/353499/'],
        readOn: '2026-01',
        confidence: 'high',
      },
      {
        service: 'NCMH Crisis Hotline, mobile',
        call: { shown: '0917 899 8727', tel: '09178998727' },
        hours: 'always',
        languages: ['en', 'fil'],
        sources: ['doh.gov.ph/press-release/launch-of-the-ncmh-crisis-hotline/', 'sunstar.com.ph'],
        readOn: '2026-01',
        confidence: 'high',
      },
    ],
  },
  PL: {
    lines: [
      {
        service: 'Kryzysowy telefon dla dorosłych',
        area: 'adults',
        call: { shown: '116 123', tel: '116123' },
        chat: { address: '116sos.pl' },
        hours: 'always',
        isFree: true,
        languages: ['pl'],
        sources: [
          'telepolis.pl/wiadomosci/ministerstwo-cyfryzacji-wazne-numery-kampania',
          'banai.pl',
        ],
        readOn: '2025-11',
        confidence: 'high',
      },
    ],
  },
  PT: {
    lines: [
      {
        service: 'Linha Nacional de Prevenção do Suicídio',
        call: { shown: '1411', tel: '1411' },
        hours: 'always',
        isFree: true,
        languages: ['pt'],
        sources: [
          'vilatv.pt/2025/09/10/',
          'deco.proteste.pt/saude/saude-mental/noticias/linha-prevencao-suicidio-funciona-24-horas-por-dia',
        ],
        readOn: '2025-09-10',
        confidence: 'high',
      },
    ],
  },
  SG: {
    lines: [
      {
        service: 'Samaritans of Singapore',
        call: { shown: '1767', tel: '1767' },
        whatsApp: { shown: '9151 1767', international: '6591511767' },
        hours: 'always',
        languages: ['en'],
        sources: [
          'mothership.sg/2022/09/sos-24h-whatsapp-service',
          'channelnewsasia.com/singapore/suicide-whatsapp-service-caretext-samaritans-singapore-help-2929241',
        ],
        readOn: '2022-09',
        confidence: 'high',
      },
      {
        service: 'national mindline',
        call: { shown: '1771', tel: '1771' },
        whatsApp: { shown: '6669 1771', international: '6566691771' },
        chat: { address: 'mindline.sg' },
        hours: 'always',
        isFree: true,
        languages: ['en', 'zh', 'ms', 'ta'],
        sources: [
          'moh.gov.sg/newsroom/national-mindline-1771-to-provide--round-the-clock-support-for-mental-health',
          'straitstimes.com/singapore/national-mental-health-call-and-textline-launched',
        ],
        readOn: '2026-04',
        confidence: 'high',
      },
    ],
  },
  ZA: {
    lines: [
      {
        service: 'SADAG Suicide Crisis Helpline',
        call: { shown: '0800 567 567', tel: '0800567567' },
        hours: 'always',
        isFree: true,
        sources: [
          'sadag.org',
          'pressreader.com/south-africa/the-star-early-edition/20190212/281668256233737',
        ],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  KR: {
    lines: [
      {
        service: '자살예방 상담전화',
        translated: 'korea',
        call: { shown: '109', tel: '109' },
        hours: 'always',
        languages: ['ko'],
        sources: [
          'newspub.kr/content?category=1&nid=698e80f136714e6ba5d6a2b7',
          'newspim.com/news/view/20240102000281',
        ],
        readOn: '2026',
        confidence: 'high',
      },
    ],
  },
  ES: {
    lines: [
      {
        service: 'Línea 024',
        call: { shown: '024', tel: '024' },
        hours: 'always',
        isFree: true,
        languages: ['es'],
        sources: ['sanidad.gob.es/linea024/home.htm'],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  CH: {
    lines: [
      {
        service: 'Die Dargebotene Hand / La Main Tendue / Telefono Amico',
        call: { shown: '143', tel: '143' },
        hours: 'always',
        languages: ['de', 'fr', 'it'],
        sources: ['143.ch/fr/', '143.ch/ticino/Consulenza/Servizio-di-consulenza/Notte'],
        readOn: '2026-09-16',
        confidence: 'high',
      },
    ],
  },
  TW: {
    lines: [
      {
        service: '1925 安心專線',
        translated: 'taiwan',
        call: { shown: '1925', tel: '1925' },
        hours: 'always',
        isFree: true,
        languages: ['zh'],
        sources: ['udn.com/news/story/7266/9329707', 'udn.com/news/story/7266/8943789'],
        readOn: '2026-02-13',
        confidence: 'high',
      },
    ],
  },
  TH: {
    lines: [
      {
        service: 'สายด่วนสุขภาพจิต',
        translated: 'thailand',
        call: { shown: '1323', tel: '1323' },
        hours: 'always',
        isFree: true,
        languages: ['th'],
        sources: ['thethaiger.com/th/news/1476607/', 'hfocus.org/content/2023/05/27615'],
        readOn: '2025-10-27',
        confidence: 'high',
      },
    ],
  },
  UA: {
    lines: [
      {
        service: 'Lifeline Ukraine',
        call: { shown: '7333', tel: '7333' },
        hours: 'always',
        languages: ['uk'],
        sources: [
          'techtoday.in.ua',
          'v-variant.com.ua/ru/article/lifeline-ukraine-donechchyny-luhanshchyny',
        ],
        readOn: '2024-05',
        confidence: 'high',
      },
    ],
  },
  GB: {
    lines: [
      {
        service: 'Samaritans',
        call: { shown: '116 123', tel: '116123' },
        hours: 'always',
        isFree: true,
        languages: ['en'],
        sources: ['samaritans.org/how-we-can-help/contact-samaritan/'],
        readOn: '2026-09-03',
        confidence: 'high',
      },
    ],
  },
  US: {
    lines: [
      {
        service: '988 Suicide & Crisis Lifeline',
        call: { shown: '988', tel: '988' },
        text: { shown: '988', number: '988' },
        chat: { address: '988lifeline.org' },
        hours: 'always',
        isFree: true,
        languages: ['en'],
        sources: ['988lifeline.org'],
        readOn: '2026-09-03',
        confidence: 'high',
      },
      {
        service: 'Línea 988 de Prevención del Suicidio y Crisis',
        call: { shown: '988', tel: '988', key: '2' },
        text: { shown: '988', number: '988', word: 'AYUDA' },
        hours: 'always',
        isFree: true,
        languages: ['es'],
        sources: [
          '988lifeline.org/get-help/what-to-expect',
          'medium.com/wadepthealth/the-spanish-subnetwork-crisis-support-for-people-who-speak-spanish-3ef49f22004f',
          'aldianews.com/en/leadership/advocacy/language-not-barrier',
        ],
        readOn: '2026-10-03',
        confidence: 'high',
      },
    ],
  },
};
