"""Following: a run that is still training, read again and again, and what has come of it.

growing.py      the log as it grows: read where it has changed, silent, ended, or gone
pace.py         how often: reading takes a tenth of the time at most
striking.py     a spike or a NaN among the rows that came
watching.py     the verdict as it changes, for `tutor check --follow`
telling.py      the command that is run when one does
"""
