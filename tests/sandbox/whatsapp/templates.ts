import { Hono } from 'hono';
import * as v from 'valibot';
import { controlError, readControl } from '../controls.ts';
import { graphError } from './graph.ts';
import type { Setup } from '../setup.ts';

const statuses = ['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED'] as const;
/** An authentication template in one language. */
type Template = { name: string; language: string; status: (typeof statuses)[number] };
const StatusControl = v.object({ status: v.picklist(statuses) });

const kind = v.pipe(v.string(), v.toLowerCase());
const Component = v.object({
  type: kind,
  sub_type: v.optional(kind),
  index: v.optional(v.union([v.string(), v.number()])),
  parameters: v.optional(v.array(v.object({ type: v.optional(v.string()), text: v.optional(v.string()) })), []),
});
export const TemplateMessage = v.object({
  name: v.pipe(v.string(), v.nonEmpty()),
  language: v.object({ code: v.pipe(v.string(), v.nonEmpty()) }),
  components: v.optional(v.array(Component), []),
});
type Message = v.InferOutput<typeof TemplateMessage>;

/** Meta's text of an authentication template, by language. */
const texts: Record<string, (code: string) => string> = {
  en: (code) => `${code} is your verification code. For your security, do not share this code.`,
  es: (code) => `Tu código de verificación es ${code}. Por tu seguridad, no lo compartas.`,
  pt: (code) => `Seu código de verificação é ${code}. Para sua segurança, não o compartilhe.`,
};

export type Templates = ReturnType<typeof createTemplates>;

/** The account's template, which is approved in each of its languages until `PUT /templates/:language` changes that. */
export function createTemplates({ store, secrets }: Setup) {
  const name = secrets.WHATSAPP_TEMPLATE_NAME;
  const languages = secrets.WHATSAPP_TEMPLATE_LANGUAGE.trim().split(/\s+/);
  const statusIn = (language: string) => store.get<Template['status']>('templates', language) ?? 'APPROVED';
  const list = (): Template[] => languages.map((language) => ({ name, language, status: statusIn(language) }));
  const control = new Hono();
  control.put('/templates/:language', async (c) => {
    const { language } = c.req.param();
    if (!languages.includes(language)) throw controlError(400, `The templates are in ${languages.join(', ')}`);
    const { status } = await readControl(c, StatusControl);
    store.put('templates', language, status);
    return c.json({ language, status });
  });
  return {
    control,
    list,
    /** Renders the template as the handset shows it. */
    render(message: Message): { text: string; code: string } {
      const { language } = approved(list(), message);
      const { components } = message;
      const isCopyButton = ({ type, sub_type: kind, index }: v.InferOutput<typeof Component>) =>
        type === 'button' && kind === 'url' && String(index) === '0';
      const body = components.find(({ type }) => type === 'body');
      const shown = onlyText(body, 'body');
      const code = onlyText(components.find(isCopyButton), 'button at index 0');
      if (code.length > 15) throw graphError(100, 'The one-time password has more than 15 characters');
      return { text: (texts[language.slice(0, 2)] ?? texts['en']!)(shown), code };
    },
  };
}

/** The template of a message; throws Meta's error if it is missing, not approved, paused or disabled. */
function approved(templates: Template[], { name, language: { code } }: Message): Template {
  const found = templates.find((template) => template.name === name && template.language === code);
  if (found?.status === 'PAUSED') throw graphError(132015);
  if (found?.status === 'DISABLED') throw graphError(132016);
  if (found?.status === 'APPROVED') return found;
  throw graphError(132001, `template name (${name}) does not exist in ${code}`);
}

function onlyText(component: v.InferOutput<typeof Component> | undefined, where: string): string {
  const { parameters = [] } = component ?? {};
  const [parameter] = parameters;
  if (parameters.length !== 1)
    throw graphError(
      132000,
      `${where}: number of localizable_params (${parameters.length}) does not match the expected number of params (1)`,
    );
  if (parameter?.type !== 'text' || !parameter.text)
    throw graphError(131008, `${where}: parameter of type text is missing text`);
  return parameter.text;
}
