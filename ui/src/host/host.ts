/**
 * Everything the page can ask of the till: one method per command, and one hint that something changed.
 * A refused command rejects with a `Problem`. There is no other way out of the page.
 */
import type { Charge } from '../bindings/Charge';
import type { ChargeOutcome } from '../bindings/ChargeOutcome';
import type { CloseShiftRequest } from '../bindings/CloseShiftRequest';
import type { ConnectRequest } from '../bindings/ConnectRequest';
import type { CorrectSaleRequest } from '../bindings/CorrectSaleRequest';
import type { CreateManagerRequest } from '../bindings/CreateManagerRequest';
import type { Decide } from '../bindings/Decide';
import type { DraftOpened } from '../bindings/DraftOpened';
import type { Frame } from '../bindings/Frame';
import type { MoveCashRequest } from '../bindings/MoveCashRequest';
import type { Offer } from '../bindings/Offer';
import type { OpenShiftRequest } from '../bindings/OpenShiftRequest';
import type { PageRequest } from '../bindings/PageRequest';
import type { PastShiftPage } from '../bindings/PastShiftPage';
import type { PastShiftsRequest } from '../bindings/PastShiftsRequest';
import type { PauseSendingRequest } from '../bindings/PauseSendingRequest';
import type { Quote } from '../bindings/Quote';
import type { QuoteRequest } from '../bindings/QuoteRequest';
import type { Reconciliation } from '../bindings/Reconciliation';
import type { Review } from '../bindings/Review';
import type { SaleDetail } from '../bindings/SaleDetail';
import type { SaleDetailRequest } from '../bindings/SaleDetailRequest';
import type { SalePage } from '../bindings/SalePage';
import type { SearchOffersRequest } from '../bindings/SearchOffersRequest';
import type { SeatMap } from '../bindings/SeatMap';
import type { SeatMapRequest } from '../bindings/SeatMapRequest';
import type { SendReport } from '../bindings/SendReport';
import type { SetAppearanceRequest } from '../bindings/SetAppearanceRequest';
import type { SetLanguageRequest } from '../bindings/SetLanguageRequest';
import type { SetPracticeLineRequest } from '../bindings/SetPracticeLineRequest';
import type { ShiftReport } from '../bindings/ShiftReport';
import type { ShiftReportRequest } from '../bindings/ShiftReportRequest';
import type { UnlockRequest } from '../bindings/UnlockRequest';

export interface Host {
  frame(): Promise<Frame>;
  startPractice(): Promise<Frame>;
  leavePractice(): Promise<Frame>;
  connect(request: ConnectRequest): Promise<Frame>;
  createManager(request: CreateManagerRequest): Promise<Frame>;
  unlock(request: UnlockRequest): Promise<Frame>;
  lock(): Promise<Frame>;
  openShift(request: OpenShiftRequest): Promise<Frame>;
  shiftReport(request: ShiftReportRequest): Promise<ShiftReport>;
  moveCash(request: MoveCashRequest): Promise<ShiftReport>;
  closeShift(request: CloseShiftRequest): Promise<Frame>;
  pastShifts(request: PastShiftsRequest): Promise<PastShiftPage>;
  searchOffers(request: SearchOffersRequest): Promise<Offer[]>;
  seatMap(request: SeatMapRequest): Promise<SeatMap>;
  openDraft(): Promise<DraftOpened>;
  quote(request: QuoteRequest): Promise<Quote>;
  charge(request: Charge): Promise<ChargeOutcome>;
  pending(request: PageRequest): Promise<SalePage>;
  recentSales(request: PageRequest): Promise<SalePage>;
  sendNow(): Promise<SendReport>;
  pauseSending(request: PauseSendingRequest): Promise<Frame>;
  reconcile(): Promise<Reconciliation>;
  lastReconciliation(): Promise<Reconciliation | null>;
  reviews(): Promise<Review[]>;
  decide(request: Decide): Promise<Frame>;
  saleDetail(request: SaleDetailRequest): Promise<SaleDetail>;
  correctSale(request: CorrectSaleRequest): Promise<Frame>;
  setPracticeLine(request: SetPracticeLineRequest): Promise<Frame>;
  setLanguage(request: SetLanguageRequest): Promise<Frame>;
  setAppearance(request: SetAppearanceRequest): Promise<Frame>;
  /** Calls back whenever what is on the screen may be out of date; the answer stops it. */
  onChanged(listener: () => void): () => void;
}
