/**
 * A cashier's place at the counter: search, seat map, ticket and the sale just made, and which of them has the
 * keyboard. Invariant: only *Cobrar* and Enter in a filled-in *Recibido* charge, and afterwards the search field
 * has the keyboard, whatever the network does.
 */
import type { Approval } from '../bindings/Approval';
import type { Discount } from '../bindings/Discount';
import type { LookAlikePolicy } from '../bindings/LookAlikePolicy';
import type { Offer } from '../bindings/Offer';
import type { ProblemCode } from '../bindings/ProblemCode';
import type { SaleSummary } from '../bindings/SaleSummary';
import type { Seat } from '../bindings/Seat';
import type { Host } from '../host/host';
import { isImplausibleChange } from '../shared/money';
import { LastSale } from './last-sale.svelte';
import { OfferSearch } from './offer-search.svelte';
import { SeatChoice } from './seat-choice.svelte';
import type { RestMethod, WalletEntry } from './tenders.svelte';
import { Ticket, type TicketLine } from './ticket.svelte';

export type Step = 'search' | 'seat' | 'name' | 'received' | 'part';

/** Why Enter in *Recibido* did not charge; the button and its keys still do. */
export type Hesitation = 'nothing_typed' | 'no_operation' | 'implausible';

/** Refusals after which the PIN is typed again. */
const OF_THE_PIN: ReadonlySet<ProblemCode> = new Set(['pin_wrong', 'pin_locked', 'manager_required']);

export class Desk {
  readonly search: OfferSearch;
  readonly ticket: Ticket;
  readonly #host: Host;
  // An object, not a word: going to where one is already must take the keyboard there again.
  #focus = $state.raw<{ step: Step }>({ step: 'search' });
  #seats = $state.raw<SeatChoice | null>(null);
  #lastSale = $state.raw<LastSale | null>(null);
  // The lines of the last ticket, while its card may have to be given up.
  #cardLines = $state.raw<TicketLine[] | null>(null);
  #hesitation = $state<Hesitation | null>(null);
  #discounting = $state<number | null>(null);
  // What the cashier had said of look-alikes when the manager was called.
  #approving = $state<LookAlikePolicy | null>(null);

  constructor(host: Host) {
    this.#host = host;
    this.search = new OfferSearch(host);
    this.ticket = new Ticket(host);
  }

  get step(): Step {
    return this.#focus.step;
  }
  get seats(): SeatChoice | null {
    return this.#seats;
  }
  get lastSale(): LastSale | null {
    return this.#lastSale;
  }
  get hesitation(): Hesitation | null {
    return this.#hesitation;
  }

  /** The line whose discount is being typed. */
  get discounting(): TicketLine | null {
    return this.ticket.lines.find(({ key }) => key === this.#discounting) ?? null;
  }
  /** A manager is asked for the PIN. */
  get approving(): boolean {
    return this.#approving !== null;
  }

  /** The card of the last ticket is on the screen. */
  get isAtCard(): boolean {
    return this.#cardLines !== null && !this.#lastSale?.isPaid;
  }

  openDiscount(): void {
    if (!this.ticket.charging) this.#discounting = this.ticket.selected?.key ?? null;
  }

  discount(key: number, discount: Discount | null): void {
    this.ticket.setDiscount(key, discount);
    this.closeDiscount();
  }

  closeDiscount(): void {
    this.#discounting = null;
    this.goTo('received');
  }

  async approve(approval: Approval | null): Promise<void> {
    if (this.#approving && approval) await this.charge(this.#approving, approval);
  }

  closeApproval(): void {
    this.#approving = null;
    this.goTo('received');
  }

  goTo(step: Step): void {
    this.#focus = { step };
  }

  /** The desk is opened, or the till hinted at a change. */
  refresh(): void {
    void this.search.refresh();
    void this.#seats?.refresh();
    void this.#lastSale?.refresh();
  }

  /** Enter in the search field. */
  async takeOffer(): Promise<void> {
    const offer = await this.search.take();
    if (offer) this.choose(offer);
  }

  /** A departure asks for its seat; everything else is on the ticket at once and the next search can begin. */
  choose(offer: Offer): void {
    if (offer.kind === 'departure') {
      this.#seats = new SeatChoice(this.#host, offer);
      this.goTo('seat');
      return;
    }
    this.ticket.add(offer, null);
    this.goTo('search');
  }

  /** Enter in the seat field: the seat is on the ticket, the passenger's name is next. */
  async takeSeat(): Promise<void> {
    const seats = this.#seats;
    const seat = await seats?.take();
    if (!seats || !seat) return;
    this.ticket.add(seats.offer, seat);
    this.closeSeats('name');
  }

  /** A finger on a seat puts it on the ticket or takes it off, and the map stays for the next one. */
  toggleSeat(seat: Seat): void {
    if (!this.#seats) return;
    const line = this.ticket.has(this.#seats.offer, seat);
    if (line) this.ticket.remove(line.key);
    else this.ticket.add(this.#seats.offer, seat);
    this.goTo('seat');
  }

  closeSeats(next: Step = 'search'): void {
    this.#seats = null;
    this.goTo(next);
  }

  /** + and − in the empty search field: the line just added, unless it is a seat. */
  changeQuantity(by: 1 | -1): void {
    const line = this.ticket.selected;
    if (line && !line.seat) this.ticket.setQuantity(line.key, line.quantity + by);
  }

  setReceived(received: string): void {
    this.#hesitation = null;
    this.ticket.tenders.received = received;
  }

  /** What pays whatever the parts leave. */
  payRestWith(method: RestMethod): void {
    this.#hesitation = null;
    this.ticket.tenders.method = method;
    this.goTo('received');
  }

  /** One more part, paid by a wallet. */
  split(): void {
    this.#hesitation = null;
    this.ticket.tenders.split();
    this.goTo('part');
  }

  setWallet(change: Partial<WalletEntry>): void {
    this.#hesitation = null;
    this.ticket.tenders.setWallet(change);
  }

  /** Enter in the number of the wallet's operation. */
  async enterOperation(): Promise<void> {
    if (this.ticket.tenders.wallet.operation.trim() === '') this.#hesitation = 'no_operation';
    else await this.charge();
  }

  /** Enter in *Recibido*: charges only what a person must have typed on purpose. */
  async enterReceived(): Promise<void> {
    if (this.ticket.tenders.received.trim() === '') {
      this.#hesitation = 'nothing_typed';
      return;
    }
    await this.ticket.settled();
    const change = this.ticket.change;
    if (change && isImplausibleChange(change)) {
      this.#hesitation = 'implausible';
      return;
    }
    await this.charge();
  }

  /** *Cobrar*. */
  async charge(lookAlikes: LookAlikePolicy = 'ask', approval: Approval | null = null): Promise<void> {
    this.#hesitation = null;
    const pressed = await this.ticket.charge(lookAlikes, approval);
    const isPin = pressed.result === 'refused' && OF_THE_PIN.has(this.ticket.problem?.code ?? 'internal');
    if (pressed.result === 'needs_manager') {
      this.ticket.goBack();
      this.#approving = lookAlikes;
    } else if (pressed.result !== 'ignored' && !isPin) this.#approving = null;
    if (isPin) return;
    if (pressed.result === 'recorded') {
      this.#lastSale = new LastSale(this.#host, pressed.checkout);
      this.#seats = null;
      this.search.clear();
      this.#cardLines = this.#lastSale.isByCard ? pressed.lines : null;
      this.goTo('search');
      void this.#lastSale.refresh();
    }
    if (pressed.result === 'refused') this.goTo('received');
  }

  goBack(): void {
    this.ticket.goBack();
    this.goTo('received');
  }

  /** On with the next sale; the card goes on by itself. */
  closeCard(): void {
    this.#cardLines = null;
    this.goTo('search');
  }

  /** Takes back what no card was charged for, and puts it on the ticket again, to be paid otherwise. */
  async payOtherwise(uncharged: SaleSummary[], reason: string): Promise<void> {
    const sales = this.#lastSale?.checkout.sales ?? [];
    const lines = this.#cardLines ?? [];
    for (const { external_transaction_id } of uncharged)
      await this.#host.cancelUnpaid({ external_transaction_id, reason });
    // The till keeps the order of the lines; where it put two together there is no telling which is which.
    const back = lines.filter((_, at) =>
      uncharged.some((sale) => sale.external_transaction_id === sales[at]?.external_transaction_id),
    );
    this.#cardLines = null;
    if (lines.length === sales.length) this.ticket.putBack(back);
    this.goTo('received');
  }

  clearTicket(): void {
    this.#hesitation = null;
    this.ticket.clear();
    this.goTo(this.#seats ? 'seat' : 'search');
  }
}
