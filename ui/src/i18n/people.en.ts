/** Texts about the people of a till in English. */
import type { people as peopleEs } from './people.es';

export const people: typeof peopleEs = {
  switchTitle: 'Who is serving now?',
  switchTo: 'Switch',
  switchHint: 'The shift stays open; each person’s ticket waits for them.',
  locks: 'Lock the till',
  ownPin: 'Change my PIN',
  title: 'People',
  lead: 'Nobody is deleted: their sales bear their name.',
  add: 'Add a person',
  addTitle: 'Add a person',
  name: 'Name',
  role: 'Works as',
  newPin: 'New PIN (6 digits or more)',
  newPinAgain: 'Repeat the new PIN',
  oldPin: 'Your PIN of now',
  mismatch: 'The two PINs are not the same.',
  reset: 'New PIN',
  resetTitle: (name) => `New PIN for ${name}`,
  retire: 'Retire',
  retireTitle: (name) => `Retire ${name}`,
  retireLead: 'They cannot unlock this till any more. Their sales stay as they are.',
  save: 'Save',
  saving: 'Saving…',
  cancel: 'Cancel',
  done: 'Done.',
};
