/** All style sheets of the components; the bundler puts their text in its place. */
declare const HEADLIGHT_STYLE: string;
