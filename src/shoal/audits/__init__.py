"""The audit: proves requirements from the texts of a finished release, with code of its own. From the rest of the
package, it may know only the errors.

It reads hierarchies as the user gave them, and shares no encoding, model, method or kernel with the code that makes
groups.
"""
