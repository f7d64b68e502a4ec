"""The signs of Harper's rules that are on by default."""

TABLE = r"""
APart | a > part
AWhile | awhile
AccuseOf | accuse accuses accused accusing > (?:\w+ )?for
AdjectiveDoubleDegree | more most > \w+(?:er|est)|worse|better|less|best
AdvantageOf | take takes took taken taking > advantage (?!of\b)\w+
AllIntentsAndPurposes | all > (?:intents?|intensive)
AllOfASudden | all > (?:of )?(?:the|a) sudden|of sudden
AllReady | all > ready
Alongside | along > side
AmInTheMorning | am pm > in the|at night
AnAnother | an a > another
Anywhere | any > where
ApartFrom | apart > form
ArriveTo | arrive arrives arrived arriving > (?:\w+ )?to
AsComparedTo | as > compare
AsEvidentBy | evident > by
AsFollows | as > follow
AskNoPreposition | ask asks asked asking tell tells told telling > to (?:me|you|him|her|it|us|them)
AtAllCosts | all > cost
AtLestToLeast | at > lest
AtTheEndOfTheDay | in > the end of the day
AwareOf | aware > about
BackInTheDay | back > in the days
BareInMind BareWithMe | bare > in|with
BatedBreath | baited > breath
Beforehand | before > hand
BesideThePoint | besides > the point
BetterOffPhrase | better > of
ByAccident | on > accident
CanBeSeen | be > seem
CaseInPoint | case > and point
ComfortableWith | comfortable > of
ComprisesOf | comprise comprises > of
Confident | confidant
ConfirmThat | conform > that
CuriousAbout | curious > of|on
DayAndAge | day > (?:in|an) age|age
DespiteOf | despite > of
DidPast | did didn't
Didnt | dint
Discuss | discuss discusses discussed discussing > about
DoMistake | do does did done doing > (?:\w+ ){0,2}mistakes?
EnvironmentVariable | environmental > variables?
EverSince | every > since
EveryTime | everytime
Everyday | everyday ; every > day
Everyone | every > one
ExitedExcitedContext | exited
ExtendOrExtent | some a an the certain large great what lesser > extend
FewUnitsOfTimeAgo | few > \w+ ago
FondOn | fond > on
ForALongTime | along > time
ForNoun | fro
ForTheMostPart | most > part
FreeRein | free > reign
FriendOfMe | friend friends colleague colleagues cousin neighbour > of (?:me|him|us|them|you)
GetPassGoPass | go goes going went gone get gets got getting > pass
GetRidOf | get gets got getting > (?:ride|rids) of|rid off
GoingTo | gong > to
GoodAt | good > in
HadOf | had > of
HalfAnHour | an > our
HaveAHardTime | has have had having > hard time
HelpedPast | helped
HomeInOn | hone hones honed honing > in
HowItLooksLike | how > (?:\w+ ){1,4}looks? like
However | how > ever
IAmAgreement | i > are
IDo | i > does
IfWouldve | if > \w+ would(?:['’]ve| have)
Impressed | impressed > of
InAHurry | in > hurry
InDetail | in > details
InNeedOf | in > need for
InThe | int > he
InTheFirstPlace | at > the first place
InThisThatRegard | in > (?:this|that) regards
InspiredBy | inspired > from
Instead | in > stead
InterestedIn | interested > on|about|of|for|at|with
ItLooksLikeThat | looks > like that
ItsContraction | its > a|an|the|not|been|going|too|so|very|just|only|really|always|never|also|about
ItsContraction | its > hard|easy|important|possible|ok|okay|time|like|good|bad|great|nice|\w{2,}ing
ItsPossessive | it's
Itself | it > self
JealousOf | jealous > from|on|with|about
LastButNotLeast | last > but not
LastNight | yesterday > night
LaughOfAt | laugh laughs laughed laughing > of
LetAlone | let > along
LetToDo | let lets > \w+ to
LetsConfusion | lets
LongTimeAgo | long > time ago
LookForwardTo | look looks looked looking > forward for
LooksLikes | look looks looked looking > likes
MakeDoWith | make makes made making > due
MakeItSeem | make makes made > it seems
MakeSense | make makes made making > (?:\w+ )?senses
MeansALotTo | a > lot for
Meanwhile | mean > while
Months | in on since by of last next until early late this > (?:march|may|april|august)
Months | in on since by of last next until early late this > (?:january|february|june|july)
Months | in on since by of last next until early late this > (?:september|october|november|december)
MootPoint | mute > point ; point points issue > (?:is )?mute
MoreThatLikely | more > that
MostOfTheTimes | of > the times
MultipleSequentialPronouns | i you he she we they > (?:I|you|he|she|we|they|your|his|their|our|my)
MultipleSequentialPronouns | me him us them my your his their our > (?:me|him|us|them|my|your|his)
Myself Yourself | my your > self
NoLonger | not > longer
NotOnly | no > only
NotOnlyInversion | not > only (?:it|he|she|they|we|you|I)
NotTo | no > to
NowKnownAs | now > know
Nowadays | nowdays ; now > a ?days?|days
Nowhere | no > where
ObsessPreposition | obsess obsessed > of|for|in|to|at
OfCourse | ofcourse ; of > curse ; off > course
OnSecondThought | second > though
OnTopOf | ontop ; in > top of
OneAndTheSame | one > in the same
OneOfTheSingular | one > of
OpenTheLight | open opens opened close closed > (?:the|a|your|my) (?:\w+ )?lights?
PeaceOfMind | piece > of mind
PiqueInterest | peak peaks peaked peek peeks peeked > \w+(?:['’]s)? (?:interest|curiosity)
PluralDecades | 1900 1910 1920 1930 1940 1950 1960 1970 1980 1990 2000 2010 2020 > ['’]s
ProgressiveNeedsBe | i you we they he she it > (?:(?:have|has|had) )?(?!during|nothing)\w{2,}ing
PronounContraction | your > (?:a|an|the|not|going)
PronounKnew | i you he she it we they > (?:\w+ly )?new
PronounVerbAgreement | i we you they > (?!always|yes|perhaps)(?:is|has|was|does|\w{2,}[a-rt-z]s)
PronounVerbAgreement | he she it > (?:am|are|were|have|do|don['’]t|haven['’]t|go|want|need|like)
PronounVerbAgreement | he she it > (?:know|think|say|see|take|get|give|come|live|work|play|use|look)
PronounVerbAgreement | he she it > (?:feel|try|love|hate|hope|help|seem|mean|show|call|become|run)
PronounVerbAgreement | he she it > (?:watch|walk|move|write|drink|prefer|eat|buy|bring|keep|leave)
PronounVerbAgreement | he she it > (?:start|stop|turn|ask|tell|talk|read|speak|wear|teach|make|pay)
QuantifierNeedsOf | couple > (?!of\b)\w+
QuiteMany | quite > many
ReasonForDoing | reason reasons > of
RegularIrregulars | womans mans childs childrens foots tooths mouses sheeps deers gooses gooder
RegularIrregulars | goodest badder baddest tomatos potatos heros goed buyed teached catched thinked
RegularIrregulars | bringed feeled keeped leaved sleeped speaked taked writed runned eated drinked
RegularIrregulars | swimmed gived knowed growed throwed drawed blowed flied sended spended builded
RegularIrregulars | losed payed sayed telled selled maked standed understanded fighted choosed
RegularIrregulars | breaked waked weared drived rided falled rised hurted cutted putted setted
RegularIrregulars | outputed inputed meeted holded hided winned becomed beginned singed stealed
Respond | will would can could should must may might to cannot can't won't > (?:not )?response
RiseTheQuestion | rise rises rised rose rising > (?:(?:the|a|an|this|that) )?questions?
SameAs | same > then|than
ShutdownVerb | is are was were be been being to > shutdown
SimplePastToPastParticiple | have has had having was were been is are be haven't hasn't i've > \
(?:(?:not|never|just|already|also|been) )?(?:wrote|went|saw|did|came|took|gave|ate|drank|drove)
SimplePastToPastParticiple | have has had having was were been is are be haven't hasn't i've > \
(?:(?:not|never|just|already|also|been) )?(?:broke|spoke|chose|began|forgot|knew|wore|rode|rose)
SimplePastToPastParticiple | have has had having was were been is are be haven't hasn't i've > \
(?:(?:not|never|just|already|also|been) )?(?:ran|sang|swam|fell|flew|froze|stole|tore|threw|grew)
SimplePastToPastParticiple | have has had having was were been is are be haven't we've > \
(?:(?:not|never|just|already|also|been) )?(?:blew|drew|shook|woke|became|hid|wove|shrank|sank)
SinceDuration | since > (?:\w+ ){0,2}(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)
Somebody | some > body
SubjectPronoun | me > and
SubjunctiveWasToWere | wish only > \w+ was
SufficeItToSay | suffice > to
SupposedTo | suppose > to
TakeALookTo | look > to
TakeCareOf | care > about
TakeItPersonally | it > personal
TakePrideIn | pride > of
TheAnother | the > another
TheDifferenceBetween | different differents > between
TheLastDays | last > (?:days|weeks|months|years|hours|minutes)
TheMy | the > (?:my|your|his|our|their|its) ; my your his our their its > the
TheWhetherWeather | the > whether
TheirToThere TheirToTheyre | their > (?:is|are|was|were|will|not|going|a|has|have|been|coming|still)
TheirToThere TheirToTheyre | be been over > their(?: (?:at|soon|by|in|on|when|for|until|tomorrow))?
ThenThan | more less rather better worse other fewer older younger taller bigger > (?:\w+ ){0,3}then
ThenThan | smaller larger higher lower longer shorter faster slower greater > (?:\w+ ){0,3}then
ThenThan | easier cheaper heavier stronger weaker earlier later harder > (?:\w+ ){0,3}then
ThereOwn | there they're theyre > own
Therefore | there > fore
TheyreToTheir | they're
ThingThink | i we you they > thing
ThinkKnowOff | think thinks thought thinking know knows knew known heard > off
ThoughThought | i he she we they you > though
ThrowAway | through > (?:\w+ ){0,3}away
ToTooIdioms | to > (?:good|late|little|much|many|few|long)
TongueInCheek | tongue > and cheek
TrialAndError | trail > and error
Unless | unless > if
UseToUsedTo | use > to
VeryKnown | very > known
WantBe | want > be
WasAloud | aloud
WereWhere | i we you they he she it > where ; know knew see wonder remember ask say tell > were
Whereas | where > as
WhomSubjectOfVerb | whom whomever
WillContain WillNonLemma | will shall won't > (?:(?:not|never) )?(?:\w+(?:[a-rt-z]s|ed)|went|came)
WillNonLemma | will shall won't > (?:(?:not|never) )?(?:did|was|were|had|took|made|saw|gave|got)
WishCould | wish wishes wished > \w+ can
Without | with > out
WorseOrWorst | worse worst
WorthToDo | worth > to [a-z]\w+
Worthwhile | worth > while
WreakHavoc | wreck wrecks wrecked wrecking reek > havoc
""".replace("\\\n", "").strip()
"""The signs of each rule, separated by semicolons: a word, or several words of which one has to be
followed by an expression."""
