/**
 * A manager's answer to one question, while it is being given. Invariant: what is sent names the question that was
 * on the screen; a refused PIN empties the PIN and nothing else.
 */
import type { DecideOther } from '../bindings/DecideOther';
import type { Decision as DecisionKind } from '../bindings/Decision';
import type { MoneyHandled } from '../bindings/MoneyHandled';
import type { Problem } from '../bindings/Problem';
import type { Review } from '../bindings/Review';
import { Action } from './action.svelte';
import { Approval } from './approval.svelte';
import { ownProblem } from './problem';
import type { Till } from './till.svelte';

/** How a decision is given: on this till it settles the money as well. */
export type Giving =
  { place: 'here' } | { place: 'elsewhere'; decide: (request: DecideOther) => Promise<unknown> };

export class Decision {
  readonly #till: Till;
  readonly #giving: Giving;
  readonly #first: Review;
  readonly #current: () => Review | null;
  readonly #action = new Action();
  #answer = $state.raw<{ kind: DecisionKind; challengeId: string } | null>(null);

  readonly approval: Approval;
  listedReason = $state<string | null>(null);
  freeReason = $state('');
  money = $state<MoneyHandled | null>(null);

  /** `first` is the question as it was opened, `current` as the till has it now; null when it is no longer asked. */
  constructor(till: Till, first: Review, current: () => Review | null, giving: Giving = { place: 'here' }) {
    this.#till = till;
    this.#giving = giving;
    this.#first = first;
    this.#current = current;
    this.approval = new Approval(till);
  }

  get review(): Review {
    return this.#current() ?? this.#first;
  }
  /** Whether another question took the place of the one first shown. */
  get replaced(): boolean {
    return this.review.challenge_id !== this.#first.challenge_id;
  }
  get gone(): boolean {
    return this.#current() === null;
  }
  /** The answer being given. One that was begun for another question is no answer to this one. */
  get kind(): DecisionKind | null {
    return this.#answer?.challengeId === this.review.challenge_id ? this.#answer.kind : null;
  }
  get busy(): boolean {
    return this.#action.busy;
  }
  get problem(): Problem | null {
    return this.#action.problem;
  }
  /** Whether the money has to be handled: the till that sold has it. */
  get asksMoney(): boolean {
    return this.kind === 'same_sale' && this.#giving.place === 'here';
  }
  /** Answers that can still be given: what somebody elsewhere decided first stands. */
  get isSettledElsewhere(): boolean {
    return this.review.decided_elsewhere !== null;
  }
  /** What goes to the audit: the listed reason, the person's own words, or both. */
  get reason(): string {
    return [this.listedReason, this.freeReason.trim()].filter((part) => part).join('. ');
  }

  /** A reason from the list belongs to one answer; the person's own words stay. */
  answer(kind: DecisionKind | null): void {
    if (kind !== this.kind) this.listedReason = null;
    this.#answer = kind && { kind, challengeId: this.review.challenge_id };
    this.#action.forget();
  }

  /** Whether the till took the decision. */
  async confirm(): Promise<boolean> {
    const decision = this.kind;
    if (!decision || this.busy) return false;
    const missing = this.#missing();
    if (missing) {
      this.#action.refuse(missing);
      return false;
    }
    const approval = this.approval.take();
    if (!approval) return false;
    const request = {
      external_transaction_id: this.review.external_transaction_id,
      challenge_id: this.review.challenge_id,
      decision,
      ...approval,
      reason: this.reason,
    };
    const giving = this.#giving;
    return this.#action.run(() =>
      giving.place === 'here'
        ? this.#till.decide({ ...request, money: this.asksMoney ? this.money : null })
        : giving.decide(request),
    );
  }

  #missing(): Problem | null {
    if (this.reason === '') return ownProblem('reason_required');
    if (this.asksMoney && !this.money) return ownProblem('money_handling_required');
    return null;
  }
}
