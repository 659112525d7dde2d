"""The audit, which proves requirements from the texts of a finished release, with code of its own. It must not know
anything else of the package but the errors.

It reads hierarchies as the user gave them, and shares no encoding, model, method or kernel with the making of groups.
"""
