"""The engine that has jobs computed: live workers, sending, and sending again."""
