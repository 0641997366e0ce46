"""Comparing SPARQL results."""

from ..._juror import compare_sparql_results

__all__ = ["compare_sparql_results"]
