/**
 * A till in memory: it sells, sends after a moment, asks about look-alikes and takes a manager's decision, close
 * enough to the real one that the whole screen can be opened in a browser and tested. It keeps nothing and reaches
 * nobody.
 */
import type { Appearance } from '../../bindings/Appearance';
import type { Finding } from '../../bindings/Finding';
import type { Frame } from '../../bindings/Frame';
import type { Language } from '../../bindings/Language';
import type { StorageWarning } from '../../bindings/StorageWarning';
import type { NewEpoch } from '../../bindings/NewEpoch';
import type { Person } from '../../bindings/Person';
import type { Phase } from '../../bindings/Phase';
import type { Problem } from '../../bindings/Problem';
import type { Reconciliation } from '../../bindings/Reconciliation';
import type { Review } from '../../bindings/Review';
import type { SaleSummary } from '../../bindings/SaleSummary';
import type { SearchSalesRequest } from '../../bindings/SearchSalesRequest';
import type { Settings } from '../../bindings/Settings';
import type { Host } from '../host';
import { soles } from './amounts';
import { FakeAudit } from './audit';
import { searched } from './catalog';
import { FakeCounter } from './counter';
import { FakeOthers } from './others';
import { CASHIER, FakePeople, MANAGER, PINS } from './people';
import { FakePrinter } from './printer';
import { FakeRelay } from './relay';
import { correctable } from './detail';
import { isUnsettled, page, refusal, stamp } from './sales';
import { isWanted } from './search';
import { settingsOf } from './settings';
import { FakeShifts } from './shift';

export { CASHIER, MANAGER, PINS };

/** How long YUPY takes, so that every state can be seen on the way. */
const ANSWER_MS = 900;

export class FakeTill implements Host {
  #phase: Phase = { phase: 'welcome' };
  #language: Language = 'es';
  #appearance: Appearance = { theme: 'light', text_size: 'normal' };
  readonly #people = new FakePeople();
  #practice = false;
  #seller: Person = CASHIER;
  readonly #listeners = new Set<() => void>();

  readonly #relay: FakeRelay;
  readonly #shifts = new FakeShifts(() => this.#relay.sales);
  readonly others = new FakeOthers();
  readonly audit = new FakeAudit();
  readonly printer = new FakePrinter(() => this.#changed());
  readonly #counter: FakeCounter;

  /** How many times each command was called. */
  readonly calls: Record<string, number> = {};
  identityCollisions = 0;
  clockAheadS: number | null = null;
  /** What the next comparison with YUPY finds. */
  differences: Finding[] = [];
  reconciliation: Reconciliation | null = null;
  newEpoch: NewEpoch | null = null;
  storageWarnings: StorageWarning[] = [];
  lastBackupAt: string | null = null;
  /** Exported files and what opens them. */
  readonly files = new Map<string, string>();

  /** `answerMs` is how long YUPY takes. */
  constructor(answerMs = ANSWER_MS) {
    this.#relay = new FakeRelay(answerMs, () => this.#changed());
    this.#counter = new FakeCounter(this.#relay, this.#shifts, this.#people, this.printer);
  }

  /** A till that cannot work. */
  becomeUnavailable(problem: Problem): void {
    this.#phase = { phase: 'unavailable', problem };
    this.#changed();
  }

  /** A till whose data were carried here without its credential. */
  becomeCarried(): void {
    this.#phase = { phase: 'reconnect', address: 'https://yupy.pe' };
    this.#changed();
  }

  /** A till that is connected and has nobody to unlock it. */
  becomeUnpeopled(): void {
    this.#people.clear();
    this.#phase = { phase: 'first_manager' };
    this.#changed();
  }

  /** A sale that YUPY refused. */
  breakASale(sequence: number): void {
    this.#relay.refuse(sequence);
  }

  /** YUPY's answer to every discard that waits. */
  hearDiscards(answer: 'told' | 'decided_otherwise'): void {
    this.#relay.hearDiscards(answer);
  }

  /** Hints at a change, as the shell does. */
  hint(): void {
    this.#changed();
  }

  frame = (): Promise<Frame> => this.#answer('frame', () => this.#frame());

  startPractice = (): Promise<Frame> =>
    this.#answer('start_practice', () => {
      this.#practice = true;
      this.#phase = this.#locked();
      this.#relay.learn('online');
      return this.#frame();
    });

  leavePractice = (): Promise<Frame> =>
    this.#answer('leave_practice', () => {
      if (!this.#practice) throw refusal('not_allowed_now');
      this.#practice = false;
      this.#phase = { phase: 'welcome' };
      return this.#frame();
    });

  connect: Host['connect'] = ({ address, enrolment_code }) =>
    this.#answer('connect', () => {
      if (!/^https?:\/\/\S+$/.test(address)) throw refusal('address_invalid');
      if (address.includes('nadie')) throw refusal('address_unreachable');
      if (address.includes('portal')) throw refusal('not_yupy');
      if (!enrolment_code.startsWith('TURNO')) throw refusal('enrolment_refused');
      this.#people.clear();
      this.#phase = { phase: 'first_manager' };
      this.#relay.learn('online');
      return this.#frame();
    });

  createManager: Host['createManager'] = ({ name, pin }) =>
    this.#answer('create_manager', () => {
      if (name.trim() === '' || name.length > 60) throw refusal('name_invalid');
      this.#people.first(name, pin);
      this.#phase = this.#locked();
      return this.#frame();
    });

  unlock: Host['unlock'] = ({ person_id, pin }) =>
    this.#answer('unlock', () => {
      this.#seller = this.#people.verify(person_id, pin);
      this.#phase = this.#atWork();
      return this.#frame();
    });

  lock = (): Promise<Frame> =>
    this.#answer('lock', () => {
      this.#phase = this.#locked();
      return this.#frame();
    });

  addPerson: Host['addPerson'] = ({ person_id, name, role, pin, approval }) =>
    this.#answer('add_person', () => {
      if (name.trim() === '') throw refusal('name_invalid');
      this.#people.add({ person_id, name: name.trim(), role }, pin, approval);
      return this.#frame();
    });

  resetPin: Host['resetPin'] = ({ person_id, pin, approval }) =>
    this.#answer('reset_pin', () => {
      this.#people.resetPin(person_id, pin, approval);
      return this.#frame();
    });

  retirePerson: Host['retirePerson'] = ({ person_id, approval }) =>
    this.#answer('retire_person', () => {
      this.#people.retire(person_id, approval);
      if (this.#seller.person_id === person_id) this.#phase = this.#locked();
      return this.#frame();
    });

  changePin: Host['changePin'] = ({ pin, new_pin }) =>
    this.#answer('change_pin', () => {
      this.#people.changePin(this.#seller.person_id, pin, new_pin);
      return this.#frame();
    });

  openShift: Host['openShift'] = ({ float }) =>
    this.#answer('open_shift', () => {
      this.#shifts.open(this.#seller, float);
      this.#phase = this.#atWork();
      return this.#frame();
    });

  shiftReport: Host['shiftReport'] = ({ shift_id }) =>
    this.#answer('shift_report', () => this.#shifts.report(shift_id));

  moveCash: Host['moveCash'] = (request) =>
    this.#answer('move_cash', () => {
      const report = this.#shifts.move(request, this.#seller, this.#people.approver(request.approval));
      this.#phase = this.#atWork();
      this.#changed();
      return report;
    });

  closeShift: Host['closeShift'] = (request) =>
    this.#answer('close_shift', () => {
      this.#shifts.close(request, this.#seller, this.#people.approver(request.approval));
      this.#phase = this.#atWork();
      return this.#frame();
    });

  saveShiftReport: Host['saveShiftReport'] = ({ shift_id }) =>
    this.#answer('save_shift_report', () => ({
      path: `/home/caja/turno/reports/D03-${shift_id ?? 'X'}.pdf`,
    }));

  pastShifts: Host['pastShifts'] = () => this.#answer('past_shifts', () => this.#shifts.past());

  searchOffers: Host['searchOffers'] = ({ text, limit }) =>
    this.#answer('search_offers', () => searched(this.#counter.offers(), text).slice(0, limit));

  seatMap: Host['seatMap'] = ({ offer_id }) =>
    this.#answer('seat_map', () => this.#counter.seatMap(offer_id));

  openDraft: Host['openDraft'] = () =>
    this.#answer('open_draft', () => ({ draft_id: this.#counter.draft() }));

  quote: Host['quote'] = (request) => this.#answer('quote', () => this.#counter.quote(request));

  charge: Host['charge'] = (request) =>
    this.#answer('charge', () => {
      const outcome = this.#counter.charge(request, this.#seller);
      if (outcome.outcome === 'recorded') {
        this.#phase = this.#atWork();
        this.#changed();
      }
      return outcome;
    });

  pending: Host['pending'] = ({ after }) =>
    this.#answer('pending', () =>
      page(this.#relay.sales.filter(isUnsettled), (sale) => after === null || sale.sequence > after),
    );

  recentSales: Host['recentSales'] = ({ after }) =>
    this.#answer('recent_sales', () =>
      page(this.#relay.sales.toReversed(), (sale) => after === null || sale.sequence < after),
    );

  searchSales: Host['searchSales'] = (request) =>
    this.#answer('search_sales', () => {
      const { after } = request;
      return page(this.#wanted(request), (it) => after === null || it.sequence < after);
    });

  exportSales: Host['exportSales'] = ({ path, search, approval }) =>
    this.#answer('export_sales', () => {
      this.#people.approver(approval);
      if (path.startsWith('/media/sin-usb/')) throw refusal('folder_missing', '/media/sin-usb');
      if (this.files.has(path)) throw refusal('file_exists', path);
      this.files.set(path, JSON.stringify(search));
      return { path, sales_count: this.#wanted(search).length };
    });

  sendNow: Host['sendNow'] = () => {
    this.#count('send_now');
    return this.#relay.sendNow();
  };

  pauseSending: Host['pauseSending'] = ({ paused }) =>
    this.#answer('pause_sending', () => {
      this.#relay.pause(paused);
      return this.#frame();
    });

  reconcile: Host['reconcile'] = () =>
    this.#answer('reconcile', () => {
      if (this.#relay.status.connection.state === 'paused') throw refusal('not_allowed_now');
      const confirmed = this.#relay.sales.filter(({ standing }) => standing === 'confirmed');
      this.reconciliation = {
        reason: 'asked',
        finished_at: stamp(),
        compared_count: confirmed.length,
        of_others_count: 0,
        findings_count: this.differences.length,
        findings: this.differences,
      };
      this.#changed();
      return this.reconciliation;
    });

  lastReconciliation: Host['lastReconciliation'] = () =>
    this.#answer('last_reconciliation', () => this.reconciliation);

  reviews = (): Promise<Review[]> => this.#answer('reviews', () => this.#relay.reviews);

  decide: Host['decide'] = ({ external_transaction_id, challenge_id, decision, ...approval }) =>
    this.#answer('decide', () => {
      const review = this.#relay.reviews.find(
        (open) => open.external_transaction_id === external_transaction_id,
      );
      if (!review) throw refusal('not_in_review');
      if (review.challenge_id !== challenge_id) throw refusal('question_changed');
      this.#people.approve(approval);
      if (decision === 'same_sale' && !approval.money) throw refusal('money_handling_required');
      this.#relay.decide(review, decision, MANAGER.name, approval.reason);
      return this.#frame();
    });

  otherReviews: Host['otherReviews'] = () => this.#answer('other_reviews', () => this.others.list);

  decideOther: Host['decideOther'] = (request) =>
    this.#answer('decide_other', () => {
      this.#people.approve(request);
      this.others.decide(request, MANAGER.name);
      return null;
    });

  auditPage: Host['auditPage'] = (request) => this.#answer('audit_page', () => this.audit.page(request));
  verifyAudit: Host['verifyAudit'] = () => this.#answer('verify_audit', () => this.audit.verify());
  exportAudit: Host['exportAudit'] = ({ path, approval }) =>
    this.#answer('export_audit', () => {
      this.#people.approver(approval);
      return { path, rows: this.audit.verify().rows };
    });

  takeBackDiscard: Host['takeBackDiscard'] = ({ external_transaction_id, ...approval }) =>
    this.#answer('take_back_discard', () => {
      this.#people.approve(approval);
      this.#relay.takeBack(this.#relay.find(external_transaction_id));
      return this.#frame();
    });

  leaveDiscard: Host['leaveDiscard'] = ({ external_transaction_id, ...approval }) =>
    this.#answer('leave_discard', () => {
      this.#people.approve(approval);
      this.#relay.leave(this.#relay.find(external_transaction_id));
      return this.#frame();
    });

  saleDetail: Host['saleDetail'] = ({ external_transaction_id }) =>
    this.#answer('sale_detail', () => this.#counter.detail(external_transaction_id));

  chargeCard: Host['chargeCard'] = ({ external_transaction_id }) =>
    this.#answer('charge_card', () => {
      this.#relay.cards.charge(this.#relay.find(external_transaction_id));
      return this.#frame();
    });

  cancelUnpaid: Host['cancelUnpaid'] = ({ external_transaction_id, reason }) =>
    this.#answer('cancel_unpaid', () => {
      const sold = this.#relay.find(external_transaction_id);
      this.#relay.cards.check(sold);
      const by = this.#seller.name;
      this.#relay.void(sold, { returned: soles(0), at: stamp(), asked_by: by, approved_by: by, reason });
      return this.#frame();
    });

  voidSale: Host['voidSale'] = ({ external_transaction_id, shown_returned_minor, ...approval }) =>
    this.#answer('void_sale', () => {
      const sold = this.#relay.find(external_transaction_id);
      this.#people.approve(approval);
      const { void_offer } = this.#counter.detail(external_transaction_id);
      if (void_offer.refused) throw refusal(void_offer.refused);
      if (void_offer.returned.minor !== shown_returned_minor) throw refusal('sale_changed');
      this.#relay.void(sold, {
        returned: void_offer.returned,
        at: stamp(),
        asked_by: this.#seller.name,
        approved_by: MANAGER.name,
        reason: approval.reason,
      });
      return this.#frame();
    });

  correctSale: Host['correctSale'] = ({ external_transaction_id, revision, content, ...approval }) =>
    this.#answer('correct_sale', () => {
      const sold = this.#relay.find(external_transaction_id);
      this.#people.approve(approval);
      if (revision !== sold.corrections.length) throw refusal('sale_changed');
      if (!correctable(sold.summary)) throw refusal('not_correctable');
      this.#relay.correct(sold, { content, at: stamp(), by: MANAGER.name, reason: approval.reason });
      return this.#frame();
    });

  printerSettings: Host['printerSettings'] = () =>
    this.#answer('printer_settings', () => this.printer.settings);

  setPrinterSettings: Host['setPrinterSettings'] = ({ settings }) =>
    this.#answer('set_printer_settings', () => {
      if (this.#seller.role !== 'manager') throw refusal('manager_required');
      return this.printer.set(settings);
    });

  previewTestPage: Host['previewTestPage'] = ({ settings }) =>
    this.#answer('preview_test_page', () =>
      this.printer.draw(settings, 'PRUEBA', [['Peñafiel, Ángel, Ñaña', 'S/ 12.50']]),
    );

  printTestPage: Host['printTestPage'] = () =>
    this.#answer('print_test_page', () => {
      this.printer.testPage();
      return this.printer.printing;
    });

  printing: Host['printing'] = () => this.#answer('printing', () => this.printer.printing);

  printShiftReport: Host['printShiftReport'] = () =>
    this.#answer('print_shift_report', () => {
      if (!this.printer.settings.device) throw refusal('printer_missing');
      this.printer.report();
      return this.printer.printing;
    });

  salePrints: Host['salePrints'] = ({ external_transaction_ids: ids }) =>
    this.#answer('sale_prints', () => ids.flatMap((id) => this.printer.of(id).map((job) => ({ ...job }))));

  previewTicket: Host['previewTicket'] = ({ external_transaction_id }) =>
    this.#answer('preview_ticket', () => {
      const sale = this.#sold(external_transaction_id);
      return this.printer.draw(this.printer.settings, 'TICKET', [
        [sale.description, ''],
        ['Precio', `S/ ${(sale.amount.minor / 100).toLocaleString('en', { minimumFractionDigits: 2 })}`],
        [sale.external_transaction_id, ''],
      ]);
    });

  reprint: Host['reprint'] = ({ external_transaction_id }) =>
    this.#answer('reprint', () => {
      this.printer.reprint(this.#sold(external_transaction_id));
      return this.printer.printing;
    });

  retryPrint: Host['retryPrint'] = ({ job_id }) =>
    this.#answer('retry_print', () => {
      this.printer.retry(job_id);
      return this.printer.printing;
    });

  dismissPrint: Host['dismissPrint'] = ({ job_id }) =>
    this.#answer('dismiss_print', () => {
      this.printer.dismiss(job_id);
      return this.printer.printing;
    });

  answerPrint: Host['answerPrint'] = ({ job_id, is_complete }) =>
    this.#answer('answer_print', () => {
      this.printer.answer(job_id, is_complete, (id) => this.#find(id));
      return this.printer.printing;
    });

  settings = (): Promise<Settings> => this.#answer('settings', () => this.#settings());

  backUp = (): Promise<Settings> =>
    this.#answer('back_up', () => {
      this.lastBackupAt = stamp();
      return this.#settings();
    });

  exportUnsent: Host['exportUnsent'] = ({ path, passphrase }) =>
    this.#answer('export_unsent', () => {
      const waiting = this.#relay.sales.filter(isUnsettled);
      if (passphrase.trim().length < 10) throw refusal('passphrase_short', '10');
      if (waiting.length === 0) throw refusal('nothing_to_export');
      if (this.files.has(path)) throw refusal('file_exists', path);
      this.files.set(path, passphrase);
      return { path, sales_count: waiting.length };
    });

  importUnsent: Host['importUnsent'] = ({ path, passphrase }) =>
    this.#answer('import_unsent', () => {
      const opens = this.files.get(path);
      if (opens === undefined) throw refusal('file_not_read', path);
      if (opens !== passphrase) throw refusal('passphrase_wrong');
      const already_here_count = this.#relay.sales.filter(isUnsettled).length;
      return { device_id: 'D03', made_at: stamp(), imported_count: 0, already_here_count };
    });

  setPracticeLine: Host['setPracticeLine'] = ({ line }) =>
    this.#answer('set_practice_line', () => {
      this.#relay.line = line;
      return this.#frame();
    });

  setAppearance: Host['setAppearance'] = ({ appearance }) =>
    this.#answer('set_appearance', () => {
      this.#appearance = appearance;
      return this.#frame();
    });

  setLanguage: Host['setLanguage'] = ({ language }) =>
    this.#answer('set_language', () => {
      this.#language = language;
      return this.#frame();
    });

  onChanged = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Newest first. */
  #wanted(request: SearchSalesRequest): SaleSummary[] {
    const paidIn = (id: string) =>
      (this.#counter.detail(id).checkout?.tenders ?? []).map(({ method }) => method);
    const wanted = isWanted(request, this.#shifts.current?.shift_id ?? '', paidIn);
    return this.#relay.sales.toReversed().filter(wanted);
  }

  #find(externalId: string): SaleSummary | undefined {
    return this.#relay.sales.find((sale) => sale.external_transaction_id === externalId);
  }

  #sold(externalId: string): SaleSummary {
    const sale = this.#find(externalId);
    if (!sale) throw refusal('not_found');
    return sale;
  }

  #frame(): Frame {
    const enrolled = this.#phase.phase !== 'welcome' && this.#phase.phase !== 'unavailable';
    return {
      phase: this.#phase,
      language: this.#language,
      appearance: this.#appearance,
      device_id: enrolled ? 'D03' : null,
      currency: 'PEN',
      status: enrolled
        ? {
            ...this.#relay.status,
            identity_collision_count: this.identityCollisions,
            new_epoch: this.newEpoch,
            clock_ahead_s: this.clockAheadS,
            reconciliation_alarm_count:
              this.reconciliation?.findings.filter(({ kind }) => kind !== 'sent_again').length ?? 0,
            storage_warnings: this.storageWarnings,
          }
        : null,
      practice: this.#practice
        ? {
            pins: this.#people.practicePins,
            line: this.#relay.line,
          }
        : null,
      people: enrolled ? this.#people.all : [],
      managers: this.#people.managers,
    };
  }

  #atWork(): Phase {
    const shift = this.#shifts.current;
    return shift
      ? { phase: 'selling', person: this.#seller, shift }
      : { phase: 'no_shift', person: this.#seller, last_closing: this.#shifts.last };
  }

  #settings(): Settings {
    return settingsOf(this.#relay.sales.filter(isUnsettled).length, this.lastBackupAt);
  }

  #locked(): Phase {
    return {
      phase: 'locked',
      people: this.#people.all,
      last_person_id: this.#people.all[0]?.person_id ?? null,
    };
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #count(command: string): void {
    this.calls[command] = (this.calls[command] ?? 0) + 1;
  }

  async #answer<T>(command: string, work: () => T): Promise<T> {
    this.#count(command);
    await Promise.resolve();
    return work();
  }
}
