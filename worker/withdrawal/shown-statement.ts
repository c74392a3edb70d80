import { isOpenToObjection, objectionUntil } from './objection.ts';
import { objected, repeated, type Statement } from './statements.ts';

/** Whether a statement was made without signing in, and takes no effect by itself. */
const isUntold = (statement: Statement): boolean =>
  isOpenToObjection(statement) && statement.dueAt === null;

/** The newest statement that its person has made, as far as we know, or has to know of. */
export const lastStatement = (newestFirst: Statement[]): Statement | undefined =>
  newestFirst.find((each) => {
    const { reason } = each;
    return reason !== objected && reason !== repeated && !isUntold(each);
  });

/** A statement in the response to whoever makes it, which says nothing about accounts. */
export function statementNow({ id, submittedAt, state, refund }: Statement) {
  return { id, submittedAt: new Date(submittedAt).toISOString(), state, refund };
}

/** A statement as its person sees it later. */
export function shownStatement(statement: Statement) {
  const objectUntil = new Date(objectionUntil(statement)).toISOString();
  return { ...statementNow(statement), ...(isOpenToObjection(statement) && { objectUntil }) };
}
