/**
 * The frame of the screen: where the program stands, and the commands that move it. Invariant: a frame that was
 * read before a command answered never replaces the command's own answer.
 */
import type { Appearance } from '../bindings/Appearance';
import type { ConnectionState } from '../bindings/ConnectionState';
import type { DiscardRequest } from '../bindings/DiscardRequest';
import type { Frame } from '../bindings/Frame';
import type { Language } from '../bindings/Language';
import type { Phase } from '../bindings/Phase';
import type { PracticeLine } from '../bindings/PracticeLine';
import type { Problem } from '../bindings/Problem';
import type { AddPersonRequest } from '../bindings/AddPersonRequest';
import type { CancelUnpaidRequest } from '../bindings/CancelUnpaidRequest';
import type { ChargeCardRequest } from '../bindings/ChargeCardRequest';
import type { ChangePinRequest } from '../bindings/ChangePinRequest';
import type { CloseShiftRequest } from '../bindings/CloseShiftRequest';
import type { CorrectSaleRequest } from '../bindings/CorrectSaleRequest';
import type { VoidSaleRequest } from '../bindings/VoidSaleRequest';
import type { Decide } from '../bindings/Decide';
import type { ResetPinRequest } from '../bindings/ResetPinRequest';
import type { RetirePersonRequest } from '../bindings/RetirePersonRequest';
import type { Host } from '../host/host';
import { messages, type Messages } from '../i18n/messages';
import { toProblem } from './problem';

/** A lost hint must not leave an old state on the screen: the frame is read at least this often. */
const REREAD_MS = 10_000;

export class Till {
  readonly host: Host;
  #frame = $state.raw<Frame | null>(null);
  #problem = $state.raw<Problem | null>(null);
  #answers = 0;
  #reading: Promise<void> | null = null;
  #readAgain = false;
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- called, never shown
  readonly #listeners = new Set<() => void>();

  constructor(host: Host) {
    this.host = host;
  }

  get frame(): Frame | null {
    return this.#frame;
  }
  get phase(): Phase | null {
    return this.#frame?.phase ?? null;
  }
  /** Why the last read of the frame failed. */
  get problem(): Problem | null {
    return this.#problem;
  }
  get language(): Language {
    return this.#frame?.language ?? 'es';
  }
  /** The texts of the language in use. */
  get t(): Messages {
    return messages[this.language];
  }
  get connection(): ConnectionState | null {
    return this.#frame?.status?.connection.state ?? null;
  }

  /** Starts to follow the till; the answer stops it. */
  follow(): () => void {
    const stop = this.host.onChanged(() => this.#changed());
    const timer = setInterval(() => this.#changed(), REREAD_MS);
    void this.refresh();
    return () => {
      stop();
      clearInterval(timer);
    };
  }

  /** For lists: called with every hint. The answer stops it. */
  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  refresh(): Promise<void> {
    if (this.#reading) {
      this.#readAgain = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  startPractice = () => this.#command(() => this.host.startPractice());
  leavePractice = () => this.#command(() => this.host.leavePractice());
  connect = (address: string, enrolmentCode: string) =>
    this.#command(() => this.host.connect({ address, enrolment_code: enrolmentCode }));
  createManager = (name: string, pin: string) => this.#command(() => this.host.createManager({ name, pin }));
  unlock = (personId: string, pin: string) =>
    this.#command(() => this.host.unlock({ person_id: personId, pin }));
  lock = () => this.#command(() => this.host.lock());
  addPerson = (request: AddPersonRequest) => this.#command(() => this.host.addPerson(request));
  resetPin = (request: ResetPinRequest) => this.#command(() => this.host.resetPin(request));
  retirePerson = (request: RetirePersonRequest) => this.#command(() => this.host.retirePerson(request));
  changePin = (request: ChangePinRequest) => this.#command(() => this.host.changePin(request));
  openShift = (float: string) => this.#command(() => this.host.openShift({ float }));
  closeShift = (request: CloseShiftRequest) => this.#command(() => this.host.closeShift(request));
  decide = (request: Decide) => this.#command(() => this.host.decide(request));
  takeBackDiscard = (request: DiscardRequest) => this.#command(() => this.host.takeBackDiscard(request));
  leaveDiscard = (request: DiscardRequest) => this.#command(() => this.host.leaveDiscard(request));
  chargeCard = (request: ChargeCardRequest) => this.#command(() => this.host.chargeCard(request));
  cancelUnpaid = (request: CancelUnpaidRequest) => this.#command(() => this.host.cancelUnpaid(request));
  voidSale = (request: VoidSaleRequest) => this.#command(() => this.host.voidSale(request));
  correctSale = (request: CorrectSaleRequest) => this.#command(() => this.host.correctSale(request));
  setPracticeLine = (line: PracticeLine) => this.#command(() => this.host.setPracticeLine({ line }));
  setAppearance = (appearance: Appearance) => this.#command(() => this.host.setAppearance({ appearance }));
  setLanguage = (language: Language) => this.#command(() => this.host.setLanguage({ language }));

  #changed(): void {
    void this.refresh();
    for (const listener of this.#listeners) listener();
  }

  /** Runs a command whose answer is the new frame; rejects with a `Problem`. */
  async #command(ask: () => Promise<Frame>): Promise<void> {
    try {
      this.#frame = await ask();
    } catch (thrown) {
      throw toProblem(thrown);
    } finally {
      this.#answers += 1;
    }
    for (const listener of this.#listeners) listener();
  }

  async #read(): Promise<void> {
    do {
      this.#readAgain = false;
      const answersBefore = this.#answers;
      try {
        const frame = await this.host.frame();
        if (answersBefore === this.#answers) this.#frame = frame;
        else this.#readAgain = true;
        this.#problem = null;
      } catch (thrown) {
        this.#problem = toProblem(thrown);
      }
    } while (this.#readAgain);
  }
}
