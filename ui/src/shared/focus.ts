/** Where the keyboard goes. */
import type { Attachment } from 'svelte/attachments';

/** Takes the keyboard whenever the condition is set anew, and marks what is typed there so that typing replaces it. */
export function focusWhen(wanted: () => boolean): Attachment<HTMLElement> {
  return (element) => {
    if (!wanted()) return;
    element.focus();
    if (element instanceof HTMLInputElement) element.select();
  };
}

/** Takes the keyboard when it appears. */
export const focusFirst: Attachment<HTMLElement> = (element) => element.focus();

/** For what scrolls and may hold nothing that takes the keyboard: the keyboard scrolls what it is in. */
export const scrollable: Attachment<HTMLElement> = (element) => {
  element.tabIndex = 0;
};

/** Keeps a row that the keyboard points at on the screen. */
export function visibleWhen(wanted: () => boolean): Attachment<HTMLElement> {
  return (element) => {
    if (wanted()) element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
}
