import { GraphError } from './graph-error.ts';

export type Template = { name: string; language: string };

type Parameter = { type?: string; text?: string };
type Component = { type?: string; sub_type?: string; index?: string | number; parameters?: Parameter[] };
type TemplateMessage = { name?: string; language?: { code?: string }; components?: Component[] };

/** Renders an authentication template as the handset shows it. */
export function renderTemplate(known: Template, message: TemplateMessage | undefined): { text: string; code: string } {
  const { name, language, components = [] } = message ?? {};
  if (!name || !language?.code)
    throw new GraphError(400, 100, 'Invalid parameter', 'template needs name and language.code');
  if (name !== known.name || language.code !== known.language)
    throw new GraphError(
      404,
      132001,
      'Template name does not exist in the translation',
      `template name (${name}) does not exist in ${language.code}`,
    );
  const shown = onlyText(
    components.find(({ type }) => type?.toLowerCase() === 'body'),
    'body',
  );
  const copied = onlyText(components.find(isCopyButton), 'button at index 0');
  if (copied.length > 15)
    throw new GraphError(400, 100, 'Invalid parameter', 'The one-time password has more than 15 characters');
  return { text: `${shown} is your verification code. For your security, do not share this code.`, code: copied };
}

function isCopyButton({ type, sub_type: kind, index }: Component): boolean {
  return type?.toLowerCase() === 'button' && kind?.toLowerCase() === 'url' && String(index) === '0';
}

function onlyText(component: Component | undefined, where: string): string {
  const parameters = component?.parameters ?? [];
  if (parameters.length !== 1)
    throw new GraphError(
      400,
      132000,
      'Number of parameters does not match the expected number of params',
      `${where}: number of localizable_params (${parameters.length}) does not match the expected number of params (1)`,
    );
  const [parameter] = parameters;
  if (parameter?.type !== 'text' || typeof parameter.text !== 'string' || parameter.text === '')
    throw new GraphError(
      400,
      131008,
      'Required parameter is missing',
      `${where}: parameter of type text is missing text`,
    );
  return parameter.text;
}
