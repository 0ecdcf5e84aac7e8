// A choice that the reader makes in the picture and the host in the address.

/** What was chosen last counts: by the host, unless it has the reader's click still to answer. */
export class SharedChoice<T> {
  declare value: T;
  heard?: T; // from the host; undefined where it takes no part
  awaited = false;

  constructor(value: T) {
    this.value = value;
  }

  choose(value: T) {
    this.value = value;
    this.awaited = true;
  }

  follow(value: T | undefined) {
    if (value === undefined) return;
    if (value === this.value) this.awaited = false;
    else if (!this.awaited && value !== this.heard) this.value = value;
    this.heard = value;
  }
}
