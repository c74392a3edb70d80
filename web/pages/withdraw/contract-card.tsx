import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent, type MouseEvent } from 'react';
import * as v from 'valibot';
import type { Output } from '#contract/endpoints';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { withdrawWords } from '#words/withdraw';
import { request } from '../../data/api-client.ts';
import { failureOf } from '../../data/error-toasts.ts';
import { useKeptForm } from '../../data/kept-form.ts';
import { refetchProfile } from '../../data/profile-query.ts';
import { queryClient } from '../../data/query-client.ts';
import { showToast } from '../../data/toasts.ts';
import { formatInstant } from '../../rules/receipt-view.ts';
import { contractFacts, refundText, type Contract } from '../../rules/withdrawal-view.ts';
import { formatDate } from '../../rules/formats.ts';
import { Alert } from '../../ui/alert.tsx';
import { Card } from '../../ui/card.tsx';
import { Facts } from '../../ui/facts.tsx';
import type { RefusalText } from '../../ui/refusal.tsx';
import { Spinner } from '../../ui/spinner.tsx';
import { ReceiptCard, type Receipt } from './receipt-card.tsx';
import { EmailField, EmailRule } from './email-field.tsx';
import { ExpiringRefusal } from './expiring-refusal.tsx';
import { StatementForm } from './statement-form.tsx';

type OnDone = (receipt: Receipt) => void;
type OnSent = (sent: Output<'withdraw'>, hasEmail: boolean) => void;
type Statement = NonNullable<Output<'getWithdrawal'>['statement']>;

/** Shows a signed-in person's contract, the refund, and the button that confirms. */
export default function ContractCard({ token, onDone }: { token: string; onDone: OnDone }) {
  const queryKey = ['withdrawal', token];
  const options = { queryKey, queryFn: () => request('getWithdrawal'), meta: { silent: true } };
  const { data, isFetched, isFetching, refetch } = useQuery(options, queryClient);
  const [sent, setSent] = useState<Pick<Receipt, 'mail' | 'refund'>>({});

  const keep = async ({ statement, receipt, mail }: Output<'withdraw'>, hasEmail: boolean) => {
    const refund = refundText(statement.refund, data?.contract?.currency);
    setSent({ refund, ...(hasEmail && { mail }) });
    // What was asked for before would bring the contract back.
    await queryClient.cancelQueries({ queryKey });
    queryClient.setQueryData(queryKey, { success: true, contract: null, statement, receipt });
    // The plan on every page is another one now.
    void refetchProfile();
  };
  const onSent: OnSent = (response, hasEmail) => void keep(response, hasEmail);

  if (!data && !isFetched) return <Spinner label={withdrawWords.loading} />;
  if (!data)
    return (
      <ContractNotRead
        onDone={onDone}
        isLooking={isFetching}
        again={() => void refetch()}
      />
    );

  const { contract, statement, receipt } = data;
  if (statement?.objectUntil)
    return (
      <ObjectableStatement
        statement={statement}
        contract={contract}
        onSent={onSent}
        refetch={() => void refetch()}
      />
    );
  if (contract)
    return (
      <OpenContract
        contract={contract}
        onSent={onSent}
      />
    );
  if (statement && receipt)
    return (
      <ReceiptCard
        state={statement.state}
        receipt={receipt}
        {...sent}
        hasAccount
      />
    );
  return <NoContract onDone={onDone} />;
}

function OpenContract({ contract, onSent }: { contract: Contract; onSent: OnSent }) {
  return (
    <>
      <Card
        id="contract"
        title={withdrawWords.contract}
      >
        <Facts facts={contractFacts(contract)} />
        <h3 className={css({ fontWeight: 'semibold' })}>{withdrawWords.after}</h3>
        <ul className={list}>
          {withdrawWords.points.map((point) => (
            <li key={point}>{point}</li>
          ))}
        </ul>
      </Card>
      <Card
        id="confirm"
        title={withdrawWords.confirmTitle}
      >
        <ConfirmForm onSent={onSent} />
      </Card>
    </>
  );
}

const list = css({ display: 'grid', gap: '2', listStyle: 'disc', paddingInlineStart: '5' });

const OwnFields = v.object({ email: EmailRule });

function ConfirmForm({ onSent }: { onSent: OnSent }) {
  const { form, errors, check, clear } = useKeptForm('statement', OwnFields);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<RefusalText | null>(null);

  const confirm = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSending) return;
    setFailure(null);
    const typed = check(event.currentTarget);
    if (!typed) return;

    setSending(true);
    const { email } = typed;
    try {
      const sent = await request('withdraw', email ? { email } : undefined);
      clear();
      onSent(sent, Boolean(email));
    } catch (error) {
      setFailure(failureOf(error));
      setSending(false);
    }
  };

  return (
    <form
      {...form}
      onSubmit={(event) => void confirm(event)}
      className={css({ display: 'grid', gap: '5' })}
    >
      <EmailField error={errors['email']} />
      <ExpiringRefusal failure={failure} />
      <button
        type="submit"
        className={button({ size: 'lg', wide: true })}
        aria-disabled={isSending}
        onClick={ignoreSecondClick}
      >
        {isSending ? withdrawWords.confirming : withdrawWords.confirm}
      </button>
    </form>
  );
}

/** The second click of a double click may have been meant for what stood here before. */
function ignoreSecondClick(event: MouseEvent): void {
  if (event.detail > 1) event.preventDefault();
}

type ObjectableProps = {
  statement: Statement;
  /** Null while Stripe cannot be asked. */
  contract: Contract | null;
  onSent: OnSent;
  refetch: () => void;
};

/** Somebody has withdrawn for this number without signing in. */
function ObjectableStatement({ statement, contract, onSent, refetch }: ObjectableProps) {
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<RefusalText | null>(null);
  const { id, submittedAt, objectUntil = submittedAt } = statement;

  const object = async () => {
    if (isSending) return;
    setSending(true);
    try {
      await request('objectToWithdrawal', { id });
      showToast({ type: 'success', title: withdrawWords.notMeDone });
      refetch();
    } catch (error) {
      setFailure(failureOf(error));
    }
    setSending(false);
  };

  return (
    <Card
      id="waiting"
      title={withdrawWords.waiting(formatDate(submittedAt))}
    >
      <p>{withdrawWords.waitingText(formatInstant(objectUntil))}</p>
      {contract && <Facts facts={contractFacts(contract)} />}
      <ConfirmForm onSent={onSent} />
      <ExpiringRefusal failure={failure} />
      <button
        type="button"
        className={button({ look: 'outline', size: 'lg', wide: true })}
        aria-disabled={isSending}
        onClick={() => void object()}
      >
        {isSending ? withdrawWords.confirming : withdrawWords.notMe}
      </button>
    </Card>
  );
}

/** A statement that we think too late is taken all the same. */
function NoContract({ onDone }: { onDone: OnDone }) {
  return (
    <>
      <Card
        id="contract"
        title={withdrawWords.contract}
      >
        <p>{withdrawWords.none}</p>
        <p>{withdrawWords.noneHint}</p>
        <Link
          to="/cancel"
          className={button({ look: 'soft', wide: true })}
        >
          {withdrawWords.cancel}
        </Link>
        <Link
          to="/account"
          className={button({ look: 'quiet', wide: true })}
        >
          {withdrawWords.account}
        </Link>
      </Card>
      <StatementCard onDone={onDone} />
    </>
  );
}

type NotReadProps = { onDone: OnDone; isLooking: boolean; again: () => void };

/** Offers the statement although the contract could not be read. */
function ContractNotRead({ onDone, isLooking, again }: NotReadProps) {
  return (
    <>
      <Card
        id="contract"
        title={withdrawWords.contract}
      >
        <Alert look="danger">{withdrawWords.failed}</Alert>
        <button
          type="button"
          className={button({ look: 'soft', wide: true })}
          aria-disabled={isLooking}
          onClick={again}
        >
          {isLooking ? withdrawWords.confirming : withdrawWords.again}
        </button>
      </Card>
      <StatementCard onDone={onDone} />
    </>
  );
}

function StatementCard({ onDone }: { onDone: OnDone }) {
  return (
    <Card
      id="statement"
      title={withdrawWords.formTitle}
    >
      <StatementForm onDone={onDone} />
    </Card>
  );
}
