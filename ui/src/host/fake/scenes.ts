/**
 * Where the in-memory till stands when the page opens, chosen by `?scene=` in the address: `welcome`, `manager`,
 * `locked`, `shift`, `selling`, `busy`, or the code of a problem at start, e.g. `?scene=folder_in_use`. With
 * `&theme=` and `&size=` it looks as it would under that choice.
 */
import type { Charge } from '../../bindings/Charge';
import type { LookAlikePolicy } from '../../bindings/LookAlikePolicy';
import type { ProblemCode } from '../../bindings/ProblemCode';
import { CASHIER, FakeTill, PINS } from './till';

export async function openScene(name: string, answerMs?: number): Promise<FakeTill> {
  const till = new FakeTill(answerMs);
  switch (name) {
    case 'welcome':
      break;
    case 'manager':
      till.becomeUnpeopled();
      break;
    case 'locked':
      await till.startPractice();
      break;
    case 'shift':
      await unlock(till);
      break;
    case 'selling':
      await sell(till);
      break;
    case 'busy':
      await beBusy(till);
      break;
    default:
      till.becomeUnavailable({
        code: name as ProblemCode,
        message: name,
        detail: '/home/caja/.local/share/turno',
      });
  }
  return till;
}

async function unlock(till: FakeTill): Promise<void> {
  await till.startPractice();
  await till.unlock({ person_id: CASHIER.person_id, pin: PINS[CASHIER.person_id] ?? '' });
}

async function sell(till: FakeTill): Promise<void> {
  await unlock(till);
  await till.openShift({ float: '150' });
}

/** Sales in many states at once, with names that test the layout. */
async function beBusy(till: FakeTill): Promise<void> {
  await sell(till);
  const seat = (label: string, buyer: string | null, policy: LookAlikePolicy = 'ask') =>
    charge(till, '184-2030', label, buyer, 8550, policy);
  await seat('12A', 'María Ramos Quispe');
  await seat('12B', '<img src=x onerror=alert(1)>');
  await seat('7C', 'محمد عبد الرحمن');
  await seat('5A', 'Wolfeschlegelsteinhausenbergerdorff-Ñahuincopa Condorcanqui de la Santísima Trinidad');
  await settle();
  await seat('12A', 'María Ramos Quispe', 'sell_anyway');
  await seat('7C', null, 'sell_anyway');
  await settle();
  await till.setPracticeLine({ line: 'lost_reply' });
  await charge(till, '201-2145', '9D', 'José Ñáñez', 6500, 'ask');
  await settle();
  await till.setPracticeLine({ line: 'offline' });
  await charge(till, 'urban-adult', null, null, 250, 'ask');
  await charge(till, '412-2000', '2B', 'Rosa Huamán', 7096, 'ask');
  till.breakASale(2);
  await settle();
}

async function charge(
  till: FakeTill,
  offerId: string,
  seat: string | null,
  buyer: string | null,
  minor: number,
  policy: LookAlikePolicy,
): Promise<void> {
  const { draft_id } = await till.openDraft();
  const request: Charge = {
    draft_id,
    lines: [
      { offer_id: offerId, seat, quantity: 1, buyer_name: buyer, shown_price_minor: minor, discount: null },
    ],
    tenders: [{ method: 'cash', received: null }],
    look_alikes: policy,
    approval: null,
  };
  await till.charge(request);
}

/** Longer than an answer takes. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 1100));
