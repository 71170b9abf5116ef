/** Every text of the screen in English; the same shape as `es.ts`, which says what must be here. */
import type { EpochReason } from '../bindings/EpochReason';
import type { StorageWarning } from '../bindings/StorageWarning';
import type { Messages } from './messages';
import { people } from './people.en';
import { cash, closing, report } from './shift.en';
import { sale } from './sale.en';
import { cardEn } from './card';
import { discardEn } from './discard';
import { auditEn } from './audit';
import { elsewhereEn } from './elsewhere';
import { searchEn } from './search';
import { printingEn } from './printing';
import { settings } from './settings.en';
import { discount } from './discount.en';
import { tender } from './tender.en';

const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;

const connection: Messages['connection'] = {
  unknown: { label: 'No contact with YUPY yet', advice: 'You can sell; it is sent once connected.' },
  online: { label: 'Connected to YUPY', advice: 'Sales are confirmed by themselves.' },
  no_network: { label: 'No network', advice: 'Keep selling; it is sent when the network is back.' },
  no_name_resolution: {
    label: 'YUPY is not found',
    advice: 'Check the Wi-Fi. You can keep selling.',
  },
  portal: { label: 'The Wi-Fi wants a log-in', advice: 'Log in to it. You can keep selling.' },
  certificate_or_clock: {
    label: 'Connection not secure',
    advice: 'Check the date and time of this machine.',
  },
  unreachable: { label: 'YUPY does not answer', advice: 'Keep selling; it tries again by itself.' },
  credential_refused: {
    label: 'YUPY does not recognise this till',
    advice: 'Tell the manager. Nothing is lost.',
  },
  wrong_address: { label: 'YUPY’s address is wrong', advice: 'Tell the manager. Nothing is lost.' },
  paused: { label: 'Sending is paused', advice: 'Resume it in Pending. You can go on selling.' },
};

/** What the till says about a connection that failed, in this language. */
function because(cause: string | null): string {
  const words: Partial<Record<string, { label: string }>> = connection;
  const label = cause === null ? undefined : words[cause]?.label;
  return label === undefined ? '' : ` (${label})`;
}

const storage: Record<StorageWarning, string> = {
  backup_failed: 'No backup could be made. Check the space on the disk.',
  journal_failed:
    'Sales are not written to the journal. They are saved all the same; check the journal’s card or disk.',
  disk_low:
    'There is no space left on the disk: nothing can be charged. What was sold is still sent. Make room and the till sells again by itself.',
};

const epochReason: Record<EpochReason, string> = {
  enrolled: 'This till was connected.',
  witness_missing: 'The data of this till come from another computer.',
  folder_copied: 'A copy of this till’s data is in use.',
  other_machine: 'The data of this till moved to another computer.',
  went_back: 'The data of this till are those of an earlier copy.',
  backup_restored: 'The file of sales was damaged and the last backup was opened.',
  identity_collision: 'Another till used this one’s numbers.',
};

/** What a member of a sale is called. */
function fieldName(name: string | null): string {
  const names: Partial<Record<string, string>> = sale.fields;
  return (name === null ? undefined : names[name]) ?? 'Something is not valid';
}

export const en: Messages = {
  locale: 'en',

  connection,

  standing: {
    saved: 'Saved here',
    unconfirmed: 'Not confirmed',
    confirmed: 'Confirmed by YUPY',
  },

  saleState: {
    queued: 'Waiting',
    sending: 'Sending',
    accepted: 'Confirmed',
    in_review: 'To review',
    needs_attention: 'Needs attention',
    on_hold: 'On hold',
    discarded: 'Discarded',
    withdrawn: 'Voided here',
  },

  saleReason: {
    not_tried_yet: 'Not sent yet. It goes by itself in a moment.',
    no_network: 'There is no network. It goes by itself when it is back.',
    no_name_resolution: 'YUPY’s address was not found. Check the Wi-Fi; it tries again by itself.',
    portal: 'The Wi-Fi’s page answered, not YUPY. Log in to the Wi-Fi; it tries again by itself.',
    certificate_or_clock: 'The connection is not secure. Check the date and time of this machine.',
    unreachable: 'YUPY does not answer. It tries again by itself.',
    timed_out: 'YUPY took too long and may have it. It is asked again without doubling it.',
    connection_lost: 'The connection broke; it may have arrived. It is asked again without doubling it.',
    server_busy: 'YUPY is busy. It tries again by itself.',
    in_progress_at_yupy: 'YUPY is working on it. It is asked again by itself.',
    credential_refused: 'YUPY does not recognise this till. Tell the manager; the sale waits here.',
    wrong_address: 'YUPY’s address is wrong. Tell the manager; the sale waits here.',
    unusable_answer: 'An answer came that makes no sense. It tries again by itself.',
    paused: 'Sending is paused. The sale waits here.',
    interrupted_by_restart: 'The program closed while sending. It is asked again without doubling it.',
    possible_duplicate: 'YUPY asks whether this sale is a repeat. A manager must review it.',
    confirmation_refused: 'YUPY did not take the decision. It is asked again.',
    missing_at_yupy: 'YUPY no longer has it. It is sent again, without doubling it.',
    corrected: 'A manager looked at it. It is sent again.',
    from_another_till: 'It came in a file from another till. It is looked up at YUPY before it is sent.',
    confirming: 'The manager said it is another sale. It is being confirmed with YUPY.',
    external_transaction_conflict: 'YUPY already has this number with other data. Tell the manager.',
    idempotency_conflict: 'YUPY got other content under this key before. Tell the manager.',
    identity_collision:
      'Another till used the same number. This sale was not taken as received: call support.',
    validation_failed: 'YUPY refused something in the sale. The manager must correct it.',
    refused: 'YUPY refused the sale. Tell the manager.',
    reconciliation_required: 'YUPY must clear this sale up. Do not charge it again.',
    stored_body_changed: 'The stored sale is not what was sold. It is not sent: call support.',
    same_sale: 'The manager decided that it was the same sale. It is not sent.',
    withdrawn: 'Voided before it reached YUPY. It is not sent.',
  },

  problem: {
    folder_in_use: () => 'Another Turno window uses this data. Close the other one and open this again.',
    folder_not_writable: (path) =>
      `The data folder${path ? ` (${path})` : ''} cannot be written. Check its permissions and open again.`,
    database_newer: () =>
      'The data comes from a newer version of Turno. Install the newer version; nothing was changed.',
    database_damaged: () =>
      'The stored data is damaged. Delete nothing and call support: the sales can be rescued.',
    disk_full: () =>
      'There is very little space on the disk: do not charge. Make room and the till sells again by itself.',
    address_invalid: () => 'That address is not valid. Write, for example, yupy.company.pe.',
    address_unreachable: (cause) =>
      `That address could not be reached${because(cause)}. Check the network and the address.`,
    enrolment_refused: () => 'YUPY did not accept the code. It may be used or mistyped: ask for a new one.',
    not_yupy: () => 'Another service answered at that address, not YUPY. Check the address or the Wi-Fi.',
    practice_failed: () => 'Practice could not start. Close the program and open it again.',
    not_unlocked: () => 'The till is locked. Enter your PIN.',
    pin_wrong: () => 'Wrong PIN. Try again.',
    pin_locked: (seconds) =>
      seconds ? `Too many tries. Wait ${seconds} s.` : 'Too many tries. Wait a moment.',
    pin_weak: () => 'That PIN is easy to guess. Use 6 digits or more, no series and no repeats.',
    name_invalid: () => 'Write a name of up to 60 letters.',
    manager_required: () => 'Only a manager can do this.',
    last_manager: () => 'This is the only manager. Add another one first.',
    reason_required: () => 'Choose or write the reason, in a few words.',
    shift_required: () => 'Open the shift first.',
    shift_already_open: () => 'A shift is open already.',
    not_enough_cash: (there) =>
      `There is not so much cash in the drawer${there ? `: there is S/ ${there}` : ''}.`,
    figures_changed: () => 'The figures changed while you counted. Look at them and close again.',
    amount_invalid: () => 'The amount is not clear. Write, for example, 85.50.',
    ticket_empty: () => 'The ticket is empty. Add a seat, a fare or a product.',
    ticket_too_long: () => 'The ticket has too many lines. Charge it in two parts.',
    offer_gone: (name) =>
      name
        ? `“${name}” is no longer in the catalog. Remove it from the ticket.`
        : 'Something on the ticket is no longer in the catalog. Remove it and choose another.',
    price_changed: () => 'The price changed. Remove the line and add it again to see today’s price.',
    seat_required: () => 'Choose a seat.',
    seat_twice: () => 'The same seat is on the ticket twice. Remove one line.',
    seat_unknown: (seat) => (seat ? `There is no seat ${seat} on this bus.` : 'There is no such seat.'),
    quantity_invalid: () => 'The quantity is not valid.',
    buyer_name_invalid: () => 'A passenger’s name has at most 120 letters and no control characters.',
    received_too_little: () => 'What was received does not cover the total.',
    discount_invalid: () => 'The discount is not valid: at least S/ 0.10 must be left to pay.',
    tenders_invalid: () => 'Choose what is paid with: up to four payments, and only one for the rest.',
    tender_too_much: (left) =>
      `That is more than is left to pay${left === null ? '' : ` (${left})`}. Only cash gives change.`,
    operation_number_invalid: () => 'Type the operation number: 4 to 32 letters or digits.',
    operation_number_used: (sale) =>
      sale === null
        ? 'That operation number is on this ticket twice.'
        : `That operation number paid sale ${sale} already. Look at the customer’s payment again.`,
    card_alone: () => 'A card pays the whole ticket. Remove the other payments.',
    card_needs_line: () => 'Without a line no card can be charged. Use cash or a wallet.',
    card_not_chargeable: () => 'This sale cannot be charged to a card now. Look at where it stands.',
    card_was_charged: () => 'This sale is paid. A manager voids it.',
    draft_already_recorded: () => 'This ticket was charged already. Look at Sales before charging again.',
    question_changed: () => 'YUPY’s question changed. Look at the new data and decide again.',
    not_in_review: () => 'This sale no longer waits for a decision.',
    money_handling_required: () => 'Say what happened to the money.',
    take_back_too_late: () =>
      'It cannot be undone any more: YUPY was told, the shift was closed, or the seat was sold again.',
    decided_elsewhere: (who) => `${who ?? 'Somebody else'} decided before, and their decision stands.`,
    printer_missing: () => 'This till has no printer. A manager chooses one in Settings.',
    printer_settings_invalid: (what) =>
      what === 'address' || what === 'path'
        ? 'Look at the printer’s address: it cannot be used like this.'
        : 'Look at the printer’s settings: its width and the text at the bottom.',
    not_correctable: () => 'This sale does not wait for a correction.',
    sale_changed: () => 'The sale changed while you looked at it. Close it and open it again.',
    text_invalid: (name) => `${fieldName(name)}: at most 120 letters, no control characters.`,
    already_voided: () => 'This sale is voided already: the money was given back once.',
    void_awaits_payment: () => 'Whether the card was charged is not known yet. Wait for the answer.',
    void_awaits_decision: () => 'To give the money back, answer YUPY’s question under Review first.',
    void_not_possible: () => 'This sale cannot be voided here. Call support.',
    void_limit: (limit) => `Giving back more than ${limit ?? 'that'} is done by the office.`,
    passphrase_short: (enough) => `Use a passphrase of ${enough ?? '10'} characters or more.`,
    passphrase_wrong: () => 'That passphrase does not open this file. Type it as on the other till.',
    nothing_to_export: () => 'There are no unsent sales.',
    too_many_sales: (limit) => `Too many sales for one file${limit ? ` (more than ${limit})` : ''}.`,
    file_exists: () => 'There is a file of that name. Choose another; that one was not changed.',
    file_not_written: (why) =>
      `The file could not be written${why ? ` (${why})` : ''}. Check the folder and the space.`,
    folder_missing: (folder) =>
      `The folder${folder ? ` ${folder}` : ''} is not there. Plug the stick in or choose another folder.`,
    file_no_room: (folder) =>
      `There is no room${folder ? ` in ${folder}` : ''} for the file. Make room or choose another folder.`,
    file_not_read: (why) =>
      `The file could not be read${why ? ` (${why})` : ''}. Check the folder and the name.`,
    file_foreign: () => 'That file is not an export of unsent sales of Turno.',
    file_newer: () => 'The file is of a newer version of Turno. Update this till; nothing was imported.',
    file_damaged: () => 'The file was cut or changed. Copy it again; nothing was imported.',
    other_company: () => 'The file is of another company or another YUPY. Nothing was imported.',
    not_found: () => 'Not found.',
    not_allowed_now: () => 'This cannot be done now.',
    disk_failed: () => 'The disk failed and the sale was not saved. Press Charge again.',
    outcome_unknown: () =>
      'The disk did not say whether the sale was saved. Press Charge again: it is never charged twice.',
    internal: () => 'Something failed inside the program. Nothing was lost; try again.',
  },

  signal: {
    amount: 'same amount',
    currency: 'same currency',
    buyer_name: 'same passenger',
    shift_id: 'same shift',
    device_id: 'same till',
    route: 'same route',
    seat: 'same seat',
    order: 'same order',
    product: 'same product',
    service: 'same service',
    custom_reference_1: 'same reference 1',
    custom_reference_2: 'same reference 2',
  },

  role: { cashier: 'Cashier', manager: 'Manager' },

  practiceLine: {
    online: 'online',
    offline: 'no network',
    lost_reply: 'lost reply',
    slow: 'slow (3G)',
    portal: 'portal',
  },

  report,
  cash,
  closing,
  sale,
  printing: printingEn,
  card: cardEn,
  discard: discardEn,
  elsewhere: elsewhereEn,
  search: searchEn,
  audit: auditEn,
  people,

  common: {
    product: 'Turno',
    opening: 'Opening the till…',
    loading: 'Loading…',
    loadMore: 'Show more',
    language: 'Language',
    lock: 'Lock',
    whoIsHere: 'Serving',
  },

  time: {
    months: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
    seconds: (n) => `${n} s`,
    minutes: (n) => `${n} min`,
    hours: (hours, minutes) => (minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`),
    days: (n) => count(n, 'day', 'days'),
  },

  unavailable: {
    title: 'Turno cannot open',
    nothingChanged: 'Nothing was changed and nothing was lost.',
    technical: 'For support',
  },

  welcome: {
    title: 'Welcome to Turno',
    lead: 'The till that sells even without a network.',
    practiceTitle: 'Practise',
    practiceText: 'With routes, prices and a practice YUPY on this machine. Nothing is really charged.',
    practiceAction: 'Start practising',
    practiceBusy: 'Getting the practice ready…',
    connectTitle: 'Connect to YUPY',
    connectText: 'With the address and the enrolment code that your company gave you.',
    connectAction: 'Connect to YUPY',
    reconnectText:
      'These data come from another computer and the sales are here. Ask your company for a new code; then create the manager again.',
    address: 'YUPY’s address',
    addressHint: 'For example: yupy.company.pe',
    code: 'Enrolment code',
    codeHint: 'It works only once.',
    submit: 'Connect',
    busy: 'Connecting…',
    back: 'Back',
  },

  firstManager: {
    title: 'Create the first manager',
    lead: 'The manager unlocks the till and approves decisions with a PIN.',
    name: 'Name',
    submit: 'Create manager',
  },

  lock: {
    title: 'Who is selling?',
    pin: 'PIN',
    pinFor: (name) => `PIN of ${name}`,
    unlock: 'Unlock',
    erase: 'Erase',
    digit: (digit) => `Digit ${digit}`,
    practicePin: (pin) => `Practice PIN: ${pin}`,
    leavePractice: 'Leave practice',
  },

  shift: {
    title: 'Open the shift',
    lead: (name) => `Hello, ${name}. Count the cash that you start with.`,
    float: 'Opening cash',
    floatHint: 'It can be 0. For example: 150 or 85.50.',
    submit: 'Open shift',
  },

  nav: {
    label: 'Views',
    sell: 'Sell',
    pending: 'Pending',
    review: 'Review',
    sales: 'Sales',
    shift: 'Shift',
    full: 'Much cash in the drawer',
    settings: 'Settings',
  },

  settings: {
    appearance: 'Screen',
    languages: { es: 'Español', en: 'English' },
    theme: 'Colours',
    themes: { light: 'Light', dark: 'Dark', high_contrast: 'High contrast' },
    textSize: 'Text size',
    textSizes: { normal: 'Normal', large: 'Large', largest: 'Very large' },
    ...settings,
  },

  status: {
    label: 'State of the till',
    allSent: 'All confirmed',
    pendingShort: (n) => `${n} pending`,
    reviews: (n) => `${n} to review`,
    attention: (n) => count(n, 'with a problem', 'with a problem'),
    collision: (n) =>
      `${count(n, 'answer shows', 'answers show')} that another till uses this one’s identity. ` +
      'This till uses new numbers already: go on selling and call support.',
    epochReason,
    storage,
    newEpoch: (epoch, toLookUp, recovered) =>
      `Its tickets have new letters (${epoch}); you can go on selling.` +
      (toLookUp > 0
        ? ` ${count(toLookUp, 'sale', 'sales')} of before: looked up at YUPY before sending.`
        : '') +
      (recovered > 0 ? ` ${count(recovered, 'sale', 'sales')} recovered from the journal.` : ''),
    differences: (n) =>
      `${count(n, 'difference', 'differences')} between YUPY and this till: see Sales and tell the manager.`,
    clockAhead: (duration) =>
      `This machine’s clock is ${duration} ahead. Set it right: sales carry this time.`,
    clockBehind: (duration) =>
      `This machine’s clock is ${duration} behind. Set it right: sales carry this time.`,
    nextTry: (duration) => `next try in ${duration}`,
    tryingNow: 'trying now',
    shift: (id) => `Shift ${id}`,
    device: (id) => `Till ${id}`,
  },

  practice: {
    title: 'Practice',
    line: 'Practice network',
    pins: 'Practice PINs',
  },

  tender,
  discount,

  sell: {
    search: 'Search a route, departure or product',
    searchHint: 'Type, choose with ↑ ↓ and press Enter.',
    noOffers: 'Nothing matches the search.',
    kind: { departure: 'Departure', fare: 'Urban', product: 'Product' },
    seatsFree: (n) => `${n} free`,
    ticket: 'Ticket',
    ticketEmpty: 'Search a departure or a product to begin.',
    guideTitle: 'With the keyboard',
    guide: [
      { key: 'Enter', what: 'choose and go on' },
      { key: '↑ ↓', what: 'move in the list or the seats' },
      { key: 'Esc', what: 'back to the search' },
      { key: '+ −', what: 'change the quantity' },
      { key: 'F8', what: 'write what was received; again: Yape, Plin or card' },
      { key: '⇧ F8', what: 'split the payment' },
      { key: 'Ctrl D', what: 'discount on the line' },
      { key: 'F9', what: 'charge' },
    ],
    emptyTicket: 'Clear',
    buyer: 'Passenger (optional)',
    quantity: 'Quantity',
    more: 'One more',
    fewer: 'One fewer',
    quantityKeys: 'keys + −',
    removeLine: (what) => `Remove ${what}`,
    seat: (seat) => `Seat ${seat}`,
    seatSoldHere: (time) => `Careful! Already sold here at ${time}.`,
    total: 'Total',
    rounding: 'Rounding',
    due: 'To charge',
    received: 'Received',
    exact: 'Exact',
    change: 'Change',
    missing: 'Missing',
    charge: 'Charge',
    charging: 'Saving…',
    typeReceived: 'Write what was received, or press F9 if the payment is exact.',
    implausible: (received) => `Did you receive ${received}? Check the amount. If it is right, press F9.`,
    lastSale: 'Last sale',
    changeToGive: 'Change to give',
    noChange: 'No change',
  },

  seats: {
    title: 'Choose the seat',
    typed: 'Seat',
    typedHint: 'Type the number or use the arrows; Enter chooses.',
    back: 'Back to the search',
    done: 'Done',
    deck: (n) => `Deck ${n}`,
    deckPrice: (deck, price) => `${deck} · ${price}`,
    from: (price) => `from ${price}`,
    free: 'free',
    chosen: 'chosen',
    sold: (time) => `sold here ${time}`,
    describe: (seat, price, state) => `Seat ${seat}, ${price}, ${state}`,
  },

  lookAlike: {
    title: 'This looks like a repeated sale',
    seat: (seat, duration) => `Seat ${seat} was already sold ${duration} ago.`,
    general: (what, duration) => `“${what}” was already sold ${duration} ago.`,
    because: (signals) => `In common: ${signals}.`,
    nothingRecorded: 'Nothing has been charged yet.',
    sell: 'It is another sale: sell anyway',
    back: 'Back to the ticket',
  },

  pending: {
    title: 'Pending',
    lead: 'Sales saved on this till that YUPY has not confirmed yet. They cannot get lost.',
    empty: 'Nothing pending: YUPY confirmed every sale.',
    sendNow: 'Send now',
    sending: 'Sending…',
    pause: 'Work offline',
    resume: 'Resume sending',
    nothingToSend: 'There was nothing to send now.',
    report: (attempted, accepted, left) =>
      `${attempted} tried: YUPY confirmed ${accepted}. ${left} still to be confirmed.`,
    attempts: (n) => (n === 0 ? 'Not tried' : count(n, 'attempt', 'attempts')),
    nextTry: (duration) => `next in ${duration}`,
    dueNow: 'next: now',
    soldAt: (device: string, seller: string) => `sold by ${seller} at till ${device}`,
    detail: 'YUPY said',
  },

  sales: {
    title: 'Sales',
    empty: 'There are no sales on this till yet.',
    time: 'Time',
    what: 'Sale',
    seller: 'Seller',
    amount: 'Amount',
    state: 'State',
    compare: 'Compare with YUPY',
    comparing: 'Comparing…',
    neverCompared: 'Not compared with YUPY yet.',
    compared: (when, n) => `Compared with YUPY on ${when}: ${count(n, 'sale', 'sales')} checked.`,
    noDifferences: 'No differences.',
    ofOthers: (n) => `${count(n, 'sale is', 'sales are')} of another machine with this till’s name.`,
    moreFindings: (n) => `And ${n} more.`,
    finding: {
      unknown_here: 'YUPY has it and this till does not. Tell support.',
      amount_differs: 'YUPY has another amount. Tell support.',
      discarded_here: 'Here it was decided to be the same sale, and YUPY has both. Tell the manager.',
      sent_again: 'YUPY had lost it. It is sent again, without doubling it.',
    },
    amounts: (ours, theirs) => `here ${ours}, at YUPY ${theirs}`,
  },

  review: {
    title: 'Review',
    lead: 'YUPY asks whether these sales are repeats. A manager decides; selling can go on meanwhile.',
    empty: 'There is nothing to review.',
    open: 'Review',
    asked: (duration) => `Asked ${duration} ago`,
    dialogTitle: 'Is this sale a repeat?',
    own: 'This sale',
    candidate: 'Earlier sale',
    field: 'Field',
    comparison: 'Equal?',
    equal: 'equal',
    different: 'different',
    unknown: 'no data',
    moreCandidates: (n) => `There are ${n} similar earlier sales; the nearest is shown.`,
    previousSuperseded:
      'The earlier decision did not hold because another similar sale appeared. Please decide again.',
    previousExpired: 'The earlier decision expired before it reached YUPY. Please decide again.',
    changed: 'The question changed while you were looking. This is the new data.',
    gone: 'This sale no longer waits for a decision.',
    fields: {
      amount: 'Amount',
      occurred_at: 'Time',
      description: 'Sale',
      route: 'Route',
      seat: 'Seat',
      buyer_name: 'Passenger',
      device_id: 'Till',
      shift_id: 'Shift',
      seller: 'Seller',
      state: 'At YUPY',
      external_transaction_id: 'Number',
      yupy_transaction_id: 'YUPY no.',
    },
    operational: { active: 'active', voided: 'voided' },
    financial: {
      awaiting_payment: 'to be paid',
      processing: 'payment in progress',
      paid: 'paid',
      declined: 'payment declined',
      refunded: 'refunded',
    },
    notAtYupy: 'not at YUPY yet',
    sentence: {
      lead: (parts) => `It looks like another sale: ${parts}.`,
      seatAndRoute: (seat, route) => `same seat ${seat} on route ${route}`,
      seat: (seat) => `same seat ${seat}`,
      route: (route) => `same route ${route}`,
      buyer: (name) => `same passenger (${name})`,
      amount: (amount) => `same amount (${amount})`,
      sameTill: 'on this same till',
      sameOtherTill: 'at that same till',
      before: (duration) => `${duration} earlier`,
      after: (duration) => `${duration} later`,
      sameTime: 'at the same time',
    },
    differentAction: 'It is another sale',
    differentText: 'Both are real. YUPY will record this one as well.',
    sameAction: 'It is the same sale',
    sameText: 'It was sold only once. This one is not sent.',
    laterAction: 'Decide later',
    laterText: 'Nothing is lost; the question stays here.',
    manager: 'Manager who decides',
    noManagers: 'There is no manager on this till. Decide later.',
    pin: 'Manager’s PIN',
    reason: 'Reason',
    reasonOwnWords: 'Another reason: write it below',
    reasonFree: 'Details (optional)',
    reasonFreeRequired: 'Write the reason',
    reasonsDifferent: [
      'They are two different passengers',
      'The customer bought twice on purpose',
      'The seat was released and sold again',
      'The other sale has a mistake in it',
    ],
    reasonsSame: [
      'It was charged twice by mistake',
      'It was repeated when the screen froze',
      'Two tills sold to the same passenger',
    ],
    money: 'What happened to the money?',
    refunded: 'Given back',
    notCollected: 'Never collected',
    confirmDifferent: 'Confirm: it is another sale',
    confirmSame: 'Confirm: it is the same sale',
    deciding: 'Saving the decision…',
    changeAnswer: 'Choose another answer',
    decidedDifferent: 'Decision saved: it is another sale. It is being confirmed with YUPY.',
    decidedSame: 'Decision saved: it is the same sale. It is not sent.',
  },
};
