import type { Withdrawal } from '#db/schema';
import { isOpenToObjection, objectionUntil } from './objection.ts';
import { objected, repeated } from './statements.ts';

const isUntold = (statement: Withdrawal): boolean =>
  isOpenToObjection(statement) && statement.dueAt === null;

export const lastStatement = (newestFirst: Withdrawal[]): Withdrawal | undefined =>
  newestFirst.find((each) => {
    const { reason } = each;
    return reason !== objected && reason !== repeated && !isUntold(each);
  });

export function statementNow({ id, submittedAt, state, refund }: Withdrawal) {
  return {
    id,
    submittedAt: new Date(submittedAt).toISOString(),
    state,
    refund,
  };
}

export function shownStatement(statement: Withdrawal) {
  const objectUntil = new Date(objectionUntil(statement)).toISOString();
  return {
    ...statementNow(statement),
    ...(isOpenToObjection(statement) && { objectUntil }),
  };
}
