import { UsageError, type Target, type Values } from '../target.ts';
import { asJson } from './as-json.ts';
import { writeAudit } from './audit.ts';
import { openEnvironment } from './find-user.ts';
import type { Change, Flags, Result, SupportCommand } from './support-command.ts';

type Call = {
  name: string;
  command: SupportCommand;
  target: Target;
  values: Values;
  words: string[];
  flags: Flags;
  json: boolean;
  yes: boolean;
};

/** Runs a support command and prints its result; returns whether it succeeded. */
export async function runSupport(call: Call): Promise<boolean> {
  const print = (result: Result) => process.stdout.write(`${call.json ? asJson(result.data) : result.text}\n`);
  try {
    const { words, flags, values } = call;
    const outcome = await call.command.run({ words, flags, ...openEnvironment(values) });
    const result = 'perform' in outcome ? await change(call, outcome) : outcome;
    print(result);
    return result.complete !== false;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (call.json) process.stdout.write(`${asJson({ success: false, message })}\n`);
    throw error;
  }
}

/** Requires `--yes`, and writes an audit line before and after the change. */
async function change({ name, target, yes }: Call, { would, about, needsYes, perform }: Change): Promise<Result> {
  if (needsYes && !yes) throw new UsageError(`This would ${would}. Repeat the command with --yes to do it.`);
  const entry = { env: target, command: name, about };
  writeAudit(entry, 'started');
  try {
    const result = await perform();
    writeAudit(entry, result.complete === false ? 'incomplete' : 'done');
    return result;
  } catch (error) {
    writeAudit(entry, 'failed');
    throw error;
  }
}
