"""The rules of ``failgraph pack lint``, one function a rule, by what they look at."""
