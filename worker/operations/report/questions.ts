import { readFileSync } from 'node:fs';

const runbook = new URL('../../docs/runbook.md', import.meta.url);

export type Question = { question: string; queries: string[] };

/** The questions of the runbook's section "The five questions" that the database can answer, with their SQL. */
export function readQuestions(text = readFileSync(runbook, 'utf8')): Question[] {
  const section = /^## The five questions$([\s\S]*?)(?=^## )/m.exec(text)?.[1] ?? '';
  return section
    .split(/^\*\*(?=[^*]+\?\*\*)/m)
    .slice(1)
    .map((part) => ({
      question: part.slice(0, part.indexOf('**')),
      queries: [...part.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, query = '']) => query.trim()),
    }));
}
