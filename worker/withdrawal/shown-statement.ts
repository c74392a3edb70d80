import { isOpenToObjection, objectionUntil } from './objection.ts';
import { objected, repeated, type Statement } from './statements.ts';

const isUntold = (statement: Statement): boolean =>
  isOpenToObjection(statement) && statement.dueAt === null;

export const lastStatement = (newestFirst: Statement[]): Statement | undefined =>
  newestFirst.find((each) => {
    const { reason } = each;
    return reason !== objected && reason !== repeated && !isUntold(each);
  });

export function statementNow({ id, submittedAt, state, refund }: Statement) {
  return {
    id,
    submittedAt: new Date(submittedAt).toISOString(),
    state,
    refund,
  };
}

export function shownStatement(statement: Statement) {
  const objectUntil = new Date(objectionUntil(statement)).toISOString();
  return {
    ...statementNow(statement),
    ...(isOpenToObjection(statement) && { objectUntil }),
  };
}
