/**
 * The one place that writes times. A time of day is what the till wrote in the text, with its own offset: it is
 * read, never converted, so that the screen, the ticket and YUPY's list show the same hour.
 */
import type { Messages } from '../i18n/messages';

/** Peru has one offset all year. */
const TILL_OFFSET_MS = -5 * 60 * 60 * 1000;

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})/;

/** `2026-11-30T10:42:07-05:00` → `10:42`. */
export function timeOfDay(text: string): string {
  const [, , , , hour, minute] = RFC_3339.exec(text) ?? [];
  return hour && minute ? `${hour}:${minute}` : text;
}

/** `2026-11-30T10:42:07-05:00` → `10:42:07`, to tell two sales of one minute apart. */
export function timeOfDayWithSeconds(text: string): string {
  const seconds = /T\d{2}:\d{2}:(\d{2})/.exec(text)?.[1];
  return seconds ? `${timeOfDay(text)}:${seconds}` : timeOfDay(text);
}

/** `2026-11-30T10:42:07-05:00` → `30 nov 10:42`. */
export function dayAndTime(text: string, t: Messages): string {
  const [, , month, day] = RFC_3339.exec(text) ?? [];
  const name = t.time.months[Number(month) - 1];
  return day && name ? `${Number(day)} ${name} ${timeOfDay(text)}` : text;
}

/** `2026-11-30T10:42:07-05:00` → `30 nov`. */
export function day(text: string, t: Messages): string {
  return dayAndTime(text, t).replace(/ \S+$/, '');
}

/** The till's day at an instant, as `2026-11-30`. */
export function dayAt(nowMs: number): string {
  return new Date(nowMs + TILL_OFFSET_MS).toISOString().slice(0, 10);
}

/** Whether the text's day is the till's day at that instant. */
export function isToday(text: string, nowMs: number): boolean {
  return text.slice(0, 10) === dayAt(nowMs);
}

/** The till's wall clock at an instant. */
export function wallClock(nowMs: number): string {
  return new Date(nowMs + TILL_OFFSET_MS).toISOString().slice(11, 16);
}

/** Whole seconds from now until then; negative when it is past, null when the text is no time. */
export function secondsUntil(text: string, nowMs: number): number | null {
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.ceil((at - nowMs) / 1000);
}

/** `95` → `1 min`; seconds are shown only below a minute and a half, where they matter. */
export function duration(seconds: number, t: Messages): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 90) return t.time.seconds(whole);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return t.time.minutes(minutes);
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return t.time.hours(hours, minutes % 60);
  return t.time.days(Math.floor(hours / 24));
}
