/** Whether this is the page of a report: what only one of the two pages needs is left out of the other (build.mjs). */
declare const IS_REPORT: boolean;
