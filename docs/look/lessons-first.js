// Search: a symptom's page, then a lesson, stands before the page that looks the same word up.
var Scorer = {
  score: ([name, , , , score]) => score + (name.startsWith("pending/") ? 60 : name.startsWith("lessons/") ? 40 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
