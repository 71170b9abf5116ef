/** What the tests share: a till in memory that stands where the test begins, and the page on top of it. */
import { configure, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import { expect } from 'vitest';
import App from '../src/App.svelte';
import { openScene } from '../src/host/fake/scenes';
import { FakeTill } from '../src/host/fake/till';
import { testid } from '../src/shared/testids';

/** YUPY's answer takes long enough to be seen waiting for, and no longer. */
const ANSWER_MS = 50;

// The whole page in every message hides the message.
configure({ getElementError: (message) => new Error(message ?? 'not found') });

export type Page = { till: FakeTill; user: UserEvent };

/** The whole page, on a till of its own. */
export async function openPage(scene = 'selling', till?: FakeTill): Promise<Page> {
  const host = till ?? (await openScene(scene, ANSWER_MS));
  // Without a delay the keys come as fast as a scanner's.
  const user = userEvent.setup({ delay: null });
  render(App, { host });
  await waitFor(() => expect(document.querySelector('.opening')).toBeNull());
  return { till: host, user };
}

export const get = (id: string): HTMLElement => screen.getByTestId(id);
export const maybe = (id: string): HTMLElement | null => screen.queryByTestId(id);
export const find = (id: string): Promise<HTMLElement> => screen.findByTestId(id);

export async function expectFocus(id: string): Promise<void> {
  await waitFor(() => expect(document.activeElement).toBe(maybe(id)));
}

/** A departure's seat on the ticket, as a person types it; the passenger's name has the keyboard afterwards. */
export async function typeSeat(user: UserEvent, search: string, seat: string): Promise<void> {
  await expectFocus(testid.search);
  await user.keyboard(`${search}{Enter}`);
  await expectFocus(testid.seatTyped);
  await user.keyboard(`${seat}{Enter}`);
  await expectFocus(testid.buyerName);
}

/** One seat, sold by keyboard; the search field has the keyboard afterwards. */
export async function sellSeat(user: UserEvent, search: string, seat: string, buyer = ''): Promise<void> {
  await typeSeat(user, search, seat);
  if (buyer !== '') await user.paste(buyer);
  await user.keyboard('{Enter}');
  await expectFocus(testid.received);
  await user.keyboard('200{Enter}');
  await waitFor(() => expect(maybe(testid.received)).toBeNull());
  await expectFocus(testid.search);
}

export async function expectState(id: string, state: string): Promise<void> {
  await waitFor(() => expect(get(id).dataset['state']).toBe(state));
}

export { screen, waitFor, within };
