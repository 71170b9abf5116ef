import { expect, test } from 'vitest';
import { messages } from '../src/i18n/messages';
import {
  day,
  dayAndTime,
  duration,
  isToday,
  secondsUntil,
  timeOfDay,
  timeOfDayWithSeconds,
  wallClock,
} from '../src/shared/time';

const { es, en } = messages;

test('a time is the one in the text, whatever zone this machine is in', () => {
  expect(timeOfDay('2026-11-30T23:59:07-05:00')).toBe('23:59');
  expect(timeOfDayWithSeconds('2026-11-30T23:59:07.250-05:00')).toBe('23:59:07');
  expect(timeOfDay('2026-11-30T04:00:00+14:00')).toBe('04:00');
});

test('a day has its name in the language in use', () => {
  expect(dayAndTime('2026-09-03T08:05:00-05:00', es)).toBe('3 set 08:05');
  expect(dayAndTime('2026-09-03T08:05:00-05:00', en)).toBe('3 Sep 08:05');
  expect(day('2026-12-24T08:05:00-05:00', es)).toBe('24 dic');
});

test('a text that is no time is shown as it is', () => {
  expect(timeOfDay('mañana')).toBe('mañana');
  expect(dayAndTime('mañana', es)).toBe('mañana');
  expect(secondsUntil('mañana', 0)).toBeNull();
});

test('the wall clock is Lima’s', () => {
  expect(wallClock(Date.parse('2026-12-01T03:30:00Z'))).toBe('22:30');
});

test('today is Lima’s day, also when it is tomorrow in Greenwich', () => {
  const evening = Date.parse('2026-12-01T03:30:00Z');
  expect(isToday('2026-11-30T23:00:00-05:00', evening)).toBe(true);
  expect(isToday('2026-12-01T06:00:00-05:00', evening)).toBe(false);
});

test.each([
  [-3, '0 s'],
  [0, '0 s'],
  [89, '89 s'],
  [90, '1 min'],
  [3599, '59 min'],
  [3600, '1 h'],
  [3900, '1 h 5 min'],
  [172_800, '2 días'],
])('%i seconds are %s', (seconds, text) => {
  expect(duration(seconds, es)).toBe(text);
});

test('a countdown never shows less time than is left', () => {
  expect(secondsUntil('2026-11-30T10:00:10-05:00', Date.parse('2026-11-30T10:00:00.500-05:00'))).toBe(10);
  expect(secondsUntil('2026-11-30T10:00:00-05:00', Date.parse('2026-11-30T10:00:01-05:00'))).toBe(-1);
});
