"""Metrics of retrieved documents, computed from their ids.

Both spellings of the library work: `relevant_ids` and `retrieved_ids` of its code, `relevant_docs`
and `retrieved_docs` of its documents.
"""

from ..._retrieval import average_precision, recall_at_k

__all__ = ["average_precision", "recall_at_k"]
