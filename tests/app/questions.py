"""Questions about assets/samples that paraphrase the texts, and the file that answers each."""

QUESTIONS = {
    "how do I keep half of my bees from flying away with the old queen": "beekeeping.md",
    "counting parasites in a hive before treatment": "beekeeping.md",
    "my loaf came out flat and spread sideways, what went wrong": "sourdough.md",
    "how much notice must be given to end the rental contract early": "lease.txt",
    "when is the deposit paid back after moving out": "lease.txt",
    "why do the highest tides come with the full moon": "tides.md",
    "many requests recompute the same expired cache entry at once": "caches.md",
    "how is the age of an ice core determined": "glaciers.md",
    "wooden rod inside the instrument that changes its tone": "violin.md",
    "how can a nurse tell that a vaccine was frozen": "vaccines.md",
    "ideal number of letters in a line of text": "typography.md",
    "cutting fruit trees in summer instead of winter": "orchard.md",
    "automatic braking when a train passes a red signal": "signals.md",
    "what to answer when a person with dementia asks for a dead relative": "memory-care.md",
}
